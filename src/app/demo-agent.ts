import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type Agent, type AgentContext, AgentRegistry, type RunHandler, type Tool } from '../agents/index.js';
import { type AppConfig, appConfig } from '../config/app.config.js';
import { type EventInput, getFunctionResponses, renderInstruction } from '../index.js';

const APP = 'demo';
const INSTRUCTION = 'Repeat what {user:name?} says. Refunds so far: {refunds?}.';
const HIGHEST_COUNT = 1_000;
const COUNT_MS = 100;

/** The tools of the agent, by the words that call them. */
const CALLS = [
  { words: /^my name is (.+?)\.?$/i, name: 'remember_name', argument: 'name' },
  { words: /^refund (.+?)\.?$/i, name: 'refund', argument: 'order' },
];

const TOOLS: Readonly<Record<string, Tool>> = {
  remember_name({ name }, tool) {
    tool.state.set('user:name', name);
    return { said: `I will remember your name, ${String(name)}, in all your sessions.` };
  },
  async refund({ order }, tool) {
    const { confirmed } = await tool.requestApproval({ hint: `Refund ${String(order)}?` });
    if (!confirmed) return { said: `You did not approve it, so ${String(order)} is not refunded.` };
    tool.state.set('refunds', tool.state.get('refunds', 0) + 1);
    return { said: `Refunded ${String(order)}.` };
  },
};

/** An agent to try without a model: it repeats what is said, remembers names, asks before it refunds, and counts. */
@Injectable()
export class DemoAgent implements Agent, OnModuleInit {
  constructor(
    @Inject(appConfig.KEY) private readonly config: AppConfig,
    @Inject(AgentRegistry) private readonly registry: AgentRegistry,
  ) {}

  onModuleInit(): void {
    if (!this.config.hasDemoAgent) return;
    const options = { app: APP, policy: 'enqueue', outputKey: 'last_answer' } as const;
    this.registry.register(options, (context) => this.run(context));
  }

  async *run(context: AgentContext): ReturnType<RunHandler> {
    const words = context.message.parts?.map(({ text = '' }) => text).join('') ?? '';
    const [, count] = /^count to (\d+)\.?$/i.exec(words) ?? [];
    const call = context.isResumed ? undefined : callIn(words);
    if (call) yield call;
    if (context.openCalls.length > 0 || call) return yield* useTools(context);
    if (count !== undefined) return yield* countTo(Math.min(Number(count), HIGHEST_COUNT), context.signal);
    const instruction = await renderInstruction(INSTRUCTION, context.state);
    return yield* say(`${words} (My instruction: ${instruction})`);
  }
}

function callIn(words: string): EventInput | undefined {
  for (const { words: pattern, name, argument } of CALLS) {
    const [, value] = pattern.exec(words) ?? [];
    if (value !== undefined) return modelSays({ functionCall: { id: name, name, args: { [argument]: value } } });
  }
  return undefined;
}

async function* useTools(context: AgentContext): AsyncGenerator<EventInput, EventInput> {
  const answers = await context.callTools(TOOLS);
  yield answers;
  const said = getFunctionResponses(answers).map(({ response }) => (response as { readonly said: string }).said);
  return yield* say(said.join(' '));
}

/** Says it word by word, as a model does. */
async function* say(text: string): AsyncGenerator<EventInput, EventInput> {
  for (const word of text.split(/(?<= )/)) yield { ...modelSays({ text: word }), partial: true };
  return modelSays({ text });
}

/** Takes its time, so that it can be stopped. */
async function* countTo(last: number, signal: AbortSignal): AsyncGenerator<EventInput, EventInput> {
  let text = '';
  for (let number = 1; number <= last; number++) {
    await delay(COUNT_MS, undefined, { signal });
    text += `${number} `;
    yield { ...modelSays({ text: `${number} ` }), partial: true };
  }
  return modelSays({ text: text.trimEnd() });
}

type Part = NonNullable<NonNullable<EventInput['content']>['parts']>[number];

function modelSays(part: Part): EventInput {
  return { content: { role: 'model', parts: [part] } };
}
