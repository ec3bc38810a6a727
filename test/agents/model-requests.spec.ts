import { type MessageFormat, type RunHandler, agentLoop, toMessages } from '../../src/agents/index.js';
import type { LoggedEvent, ModelRequestReport } from '../../src/index.js';
import { ScriptedModel } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { randomNumbers, seed } from '../support/random.js';
import { until } from '../support/until.js';
import { storeOfEachKind } from '../support/stores.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, echo } from './support/handlers.js';

const FORMATS: readonly MessageFormat[] = ['openai', 'anthropic', 'google', 'ai-sdk'];
const TOOLS = [{ name: 'time', description: 'Says how late it is.' }];
const TURNS = 12;

/** What a model was given: all that its vendor gets. */
interface Prompt {
  readonly instructions: unknown;
  readonly tools: unknown;
  readonly messages: unknown;
}

/** The same, made of what is stored about the request. */
async function storedPrompt(app: AgentApp, seq: number, format: MessageFormat): Promise<[Prompt, ModelRequestReport]> {
  const report = await app.sessions.getModelRequest({ ...KEY, seq });
  if (!report) throw new Error(`Event ${seq} says nothing about its request`);
  const { events: log } = await app.sessions.listEvents({ ...KEY, limit: 1_000 });
  const bySeq = new Map(log.map((event) => [event.seq, event]));
  const events = report.given.flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => bySeq.get(from + index) as LoggedEvent),
  );
  const messages = toMessages(events, { format });
  return [{ instructions: report.instructions?.value, tools: report.tools?.value, messages }, report];
}

describe.each(storeOfEachKind)('what a model was given on $name', ({ open }) => {
  let opened: OpenStorage;

  beforeEach(async () => {
    opened = await open({});
  });

  afterEach(() => opened.destroy());

  it(`is what its answer says, byte for byte, after tools, summaries, rewinds and budgets, in another process, SEED=${seed}`, async () => {
    const random = randomNumbers(seed);
    const next = (below: number): number => Math.floor(random() * below);
    const asked = new Map<string, { prompt: string; format: MessageFormat }>();
    let app = new AgentApp(opened.storage);
    for (let turn = 0; turn < TURNS; turn++) {
      const format = FORMATS[turn % FORMATS.length] ?? 'openai';
      const model = new ScriptedModel<Prompt>([
        ...Array.from({ length: next(3) }, () => ({ calls: [{ name: 'time' }, { name: 'time' }] })),
        `Answer ${turn}, `.repeat(1 + next(20)),
      ]);
      const budget = next(2) === 0 ? { tokenBudget: 20 + next(200) } : {};
      const instructions = `Be brief: ${next(2)}`;
      let question = 0;
      const loop = agentLoop({
        model: (context) => {
          const request = context.request({ instructions, tools: TOOLS, format, ...budget });
          const prompt = { instructions, tools: TOOLS, messages: request.messages };
          const id = `${turn}-${question++}`;
          asked.set(id, { prompt: JSON.stringify(prompt), format });
          return request.answered({ ...model.ask(prompt), customMetadata: { asked: id } });
        },
        tools: { time: () => ({ late: turn }) },
      });
      await app.agents.run({ ...KEY, newMessage: `Question ${turn}?`, invocationId: `i-${turn}` }, loop).result;
      const { lastSeq } = await app.sessions.listEvents({ ...KEY, limit: 1 });
      const what = next(4);
      if (what === 0) await app.sessions.rewindSession({ ...KEY, invocationId: `i-${turn}` });
      if (what === 1) {
        const actions = { compaction: { fromSeq: 1, toSeq: lastSeq } };
        const content = { role: 'user', parts: [{ text: `Until ${lastSeq}.` }] };
        const event = { id: `summary:${lastSeq}`, author: 'system', content, actions };
        await app.sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event });
      }
      if (what === 2) {
        await app.close();
        app = new AgentApp(opened.storage);
      }
    }
    const { events } = await app.sessions.listEvents({ ...KEY, modelRequests: true, limit: 1_000 });
    expect(events).toHaveLength(asked.size);
    for (const { seq, customMetadata } of events) {
      const { prompt, format } = asked.get(String(customMetadata?.asked)) ?? { prompt: '', format: 'openai' };
      const [stored, { isExact }] = await storedPrompt(app, seq, format);
      expect(isExact).toBe(true);
      expect(JSON.stringify(stored)).toBe(prompt);
    }
    expect(app.errors).toEqual([]);
    await app.close();
  });
});

describe('the request of a handler', () => {
  let app: AgentApp;
  let opened: OpenStorage;

  beforeEach(async () => {
    const [store] = storeOfEachKind;
    if (!store) throw new Error('There is no store');
    opened = await store.open({});
    app = new AgentApp(opened.storage);
  });

  afterEach(async () => {
    await app.close();
    await opened.destroy();
  });

  const run = (handler: RunHandler) =>
    app.agents.run({ ...KEY, newMessage: 'hi', invocationId: 'i-1' }, handler).result;

  it('is given the events without a format, and has no messages', async () => {
    const { events } = await run(async function* (context) {
      const request = context.request();
      expect(request.events.map(({ seq }) => seq)).toEqual(context.history.map(({ seq }) => seq));
      expect(() => request.messages).toThrow('options.format');
      yield request.answered({ content: { parts: [{ text: 'hello' }] } });
    });
    expect(events.at(-1)?.modelRequest).toEqual({ given: [[1, 1]], durationMs: expect.any(Number) as number });
  });

  it('leaves partial events as they are, and marks only the whole one', async () => {
    const model = new ScriptedModel(['two words']);
    const told: (boolean | undefined)[] = [];
    const { events } = await run(async function* (context) {
      const request = context.request({ instructions: 'Be brief.' });
      for await (const event of model.stream(request.events)) {
        const answer = request.answered(event);
        told.push(answer.modelRequest !== undefined);
        yield answer;
      }
    });
    expect(told).toEqual([false, false, true]);
    expect(events.at(-1)?.modelRequest?.promptHash).toHaveLength(43);
  });

  it('has the messages that joined the run with merge', async () => {
    const started = new HeldHandler();
    const given: unknown[] = [];
    const first = app.agents.run({ ...KEY, newMessage: 'first' }, async function* (context) {
      yield* started.handler(context);
      await until(async () => (await context.takeMessages()).length > 0);
      const request = context.request({ format: 'openai' });
      given.push(request.messages);
      yield request.answered({ id: 'last', content: { role: 'model', parts: [{ text: 'two' }] } });
    });
    await started.started;
    const second = app.agents.run({ ...KEY, newMessage: 'second', policy: 'merge' }, echo);
    started.release();
    const [{ events }] = await Promise.all([first.result, second.result]);
    const last = events.find(({ id }) => id === 'last');
    const [stored] = await storedPrompt(app, last?.seq ?? 0, 'openai');
    expect(JSON.stringify(stored.messages)).toContain('second');
    expect(JSON.stringify(stored.messages)).toBe(JSON.stringify(given[0]));
  });
});
