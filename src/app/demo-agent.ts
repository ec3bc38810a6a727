import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentContext, AgentRegistry, type Tool, agentLoop } from '../agents/index.js';
import { type AppConfig, appConfig } from '../config/app.config.js';
import { type EventInput, getFunctionResponses } from '../index.js';
import { DEMO_APP } from './endpoints.js';

const HELP = 'I am a small agent without a model. Say: My name is Ann, or: refund order 7, or: count to 20.';
const HIGHEST_COUNT = 1_000;
const COUNT_MS = 100;
const MOST_PIECES = 200;

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
export class DemoAgent implements OnModuleInit {
  constructor(
    @Inject(appConfig.KEY) private readonly config: AppConfig,
    @Inject(AgentRegistry) private readonly registry: AgentRegistry,
  ) {}

  onModuleInit(): void {
    if (!this.config.hasDemoAgent) return;
    const options = { app: DEMO_APP, policy: 'enqueue', outputKey: 'last_answer' } as const;
    this.registry.register(options, agentLoop({ model: answer, tools: TOOLS }));
  }
}

/** Takes the place of a model: reads the last event, and calls a tool or answers. */
async function* answer({ history, message, state, signal }: AgentContext): AsyncGenerator<EventInput, void> {
  const responses = getFunctionResponses(history.at(-1) ?? {}).map(({ response }) => response as ToolSaid);
  if (responses.length > 0) return yield* say(responses.map(({ said, error = '' }) => said ?? error).join(' '));
  const words = message.parts?.map(({ text = '' }) => text).join('') ?? '';
  const [, count] = /^count to (\d+)\.?$/i.exec(words) ?? [];
  if (count !== undefined) return yield* countTo(Math.min(Number(count), HIGHEST_COUNT), signal);
  const call = callIn(words);
  if (call) yield call;
  else yield* say(`${state.get('user:name', 'You')} said: ${words} (${HELP})`);
}

/** What a tool answers; an error if it could not. */
interface ToolSaid {
  readonly said?: string;
  readonly error?: string;
}

function callIn(words: string): EventInput | undefined {
  for (const { words: pattern, name, argument } of CALLS) {
    const [, value] = pattern.exec(words) ?? [];
    if (value !== undefined) return modelSays({ functionCall: { id: name, name, args: { [argument]: value } } });
  }
  return undefined;
}

/** Says it word by word, as a model does, and a long text in longer pieces. */
async function* say(text: string): AsyncGenerator<EventInput, void> {
  const words = text.split(/(?<= )/);
  const size = Math.ceil(words.length / MOST_PIECES);
  for (let from = 0; from < words.length; from += size) {
    yield { ...modelSays({ text: words.slice(from, from + size).join('') }), partial: true };
  }
  yield modelSays({ text });
}

/** Takes its time, so that it can be stopped. */
async function* countTo(last: number, signal: AbortSignal): AsyncGenerator<EventInput, void> {
  let text = '';
  for (let number = 1; number <= last; number++) {
    await delay(COUNT_MS, undefined, { signal });
    text += `${number} `;
    yield { ...modelSays({ text: `${number} ` }), partial: true };
  }
  yield modelSays({ text: text.trimEnd() });
}

type Part = NonNullable<NonNullable<EventInput['content']>['parts']>[number];

function modelSays(part: Part): EventInput {
  return { content: { role: 'model', parts: [part] } };
}
