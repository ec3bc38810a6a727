import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type EventInput, getFunctionResponses } from 'nestjs-agent-sessions';
import {
  type Agent,
  type AgentContext,
  AgentHandler,
  type AgentLoop,
  agentLoop,
  type ToolContext,
} from 'nestjs-agent-sessions/agents';

const WORD_MS = 40;

async function refund({ order }: { order: string }, tool: ToolContext): Promise<object> {
  const { confirmed } = await tool.requestApproval({ hint: `Refund order ${order}?` });
  return { said: confirmed ? `Order ${order} is refunded.` : `Order ${order} is not refunded.` };
}

/** It speaks slowly, and asks before it refunds. */
@Injectable()
@AgentHandler('shop')
export class SupportAgent implements Agent {
  readonly run: AgentLoop = agentLoop({ model: answer, tools: { refund } });
}

/** Takes the place of a language model, so that the example needs no key. */
async function* answer({ history, message, signal }: AgentContext): AsyncGenerator<EventInput, void> {
  const [response] = getFunctionResponses(history.at(-1) ?? {});
  if (response) return yield* speak((response.response as { readonly said: string }).said, signal);
  const said = message.parts?.[0]?.text ?? '';
  const [, order] = /^refund (\w+)/i.exec(said) ?? [];
  if (order !== undefined) return yield model({ functionCall: { id: 'refund', name: 'refund', args: { order } } });
  const [, count = '10'] = /(\d+)/.exec(said) ?? [];
  const words = Array.from({ length: Math.min(Number(count), 500) }, (_, index) => `word${index + 1}`);
  return yield* speak(words.join(' '), signal);
}

/** A piece for each word, then the whole text. */
async function* speak(text: string, signal: AbortSignal): AsyncGenerator<EventInput, void> {
  for (const word of text.split(/(?<= )/)) {
    await delay(WORD_MS, undefined, { signal });
    yield { ...model({ text: word }), partial: true };
  }
  yield model({ text });
}

function model(part: NonNullable<NonNullable<EventInput['content']>['parts']>[number]): EventInput {
  return { content: { role: 'model', parts: [part] } };
}
