import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type EventInput, getFunctionResponses } from 'nestjs-agent-sessions';
import { type Agent, type AgentContext, AgentHandler, type RunHandler, type Tool } from 'nestjs-agent-sessions/agents';

const WORD_MS = 40;

const tools: Readonly<Record<string, Tool>> = {
  async refund({ order }, tool) {
    const { confirmed } = await tool.requestApproval({ hint: `Refund order ${String(order)}?` });
    return { said: confirmed ? `Order ${String(order)} is refunded.` : `Order ${String(order)} is not refunded.` };
  },
};

/** Replaces a language model, so that the example needs no key. It speaks slowly, and asks before it refunds. */
@Injectable()
@AgentHandler('shop')
export class SupportAgent implements Agent {
  async *run(context: AgentContext): ReturnType<RunHandler> {
    const message = context.message.parts?.[0]?.text ?? '';
    const [, order] = /^refund (\w+)/i.exec(message) ?? [];
    if (order !== undefined && !context.isResumed) {
      yield said({ functionCall: { id: 'refund', name: 'refund', args: { order } } });
    }
    if (order !== undefined) {
      const responses = await context.callTools(tools);
      yield responses;
      const texts = getFunctionResponses(responses).map(({ response }) => (response as { readonly said: string }).said);
      return yield* speak(texts.join(' '), context.signal);
    }
    const [, count = '10'] = /(\d+)/.exec(message) ?? [];
    const words = Array.from({ length: Math.min(Number(count), 500) }, (_, index) => `word${index + 1}`);
    return yield* speak(words.join(' '), context.signal);
  }
}

/** A piece for each word, then the whole text. */
async function* speak(text: string, signal: AbortSignal): AsyncGenerator<EventInput, EventInput> {
  for (const word of text.split(/(?<= )/)) {
    await delay(WORD_MS, undefined, { signal });
    yield { ...said({ text: word }), partial: true };
  }
  return said({ text });
}

function said(part: NonNullable<NonNullable<EventInput['content']>['parts']>[number]): EventInput {
  return { content: { role: 'model', parts: [part] } };
}
