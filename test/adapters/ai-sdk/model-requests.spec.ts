import {
  APICallError,
  type ModelMessage,
  type ToolSet,
  convertToModelMessages,
  pruneMessages,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import type { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { toChatEntries } from '../../../src/adapters/ai-sdk/ui-messages.js';
import type { ChatHandler } from '../../../src/adapters/ai-sdk/index.js';
import type { ModelRequestReport } from '../../../src/index.js';
import { InMemorySessionStorage } from '../../../src/sessions/storage/in-memory/in-memory-session-storage.js';
import { storeOfEachKind } from '../../support/stores.js';
import { ChatApp, KEY, user } from './support/chat-app.js';
import { until } from '../../support/until.js';
import { call, model, step, text, thought } from './support/models.js';

const tools = {
  clock: tool({ description: 'Says how late it is.', inputSchema: z.object({}), execute: () => ({ late: 'very' }) }),
} satisfies ToolSet;

interface Asking {
  readonly system?: string;
  readonly tools?: ToolSet;
  readonly change?: (messages: ModelMessage[]) => ModelMessage[];
}

/** A handler as in the documentation. */
function asking(scripted: MockLanguageModelV3, { change = (all) => all, ...options }: Asking = {}): ChatHandler {
  return async (turn) =>
    streamText({
      ...options,
      model: turn.model(scripted),
      messages: change(await convertToModelMessages(turn.messages, { tools: options.tools })),
      abortSignal: turn.signal,
      stopWhen: stepCountIs(5),
      onError: () => undefined,
    });
}

/** What the model really got, as the providers of the SDK send it. */
function really({ doStreamCalls }: MockLanguageModelV3): string[] {
  return doStreamCalls.map(({ prompt, tools: offered }) => JSON.stringify({ prompt, tools: offered }));
}

/** What the answers of the log say that their models got, made by the SDK of these events alone. */
async function stored(
  { sessions }: ChatApp,
  known?: ToolSet,
): Promise<{ prompt: string; report: ModelRequestReport }[]> {
  const { events: log } = await sessions.listEvents({ ...KEY, limit: 1_000 });
  const answers = log.filter(({ modelRequest }) => modelRequest);
  return Promise.all(
    answers.map(async ({ seq }) => {
      const report = await sessions.getModelRequest({ ...KEY, seq });
      if (!report) throw new Error(`Event ${seq} says nothing about its request`);
      const given = report.given.flatMap(([from, to]) => log.filter((event) => event.seq >= from && event.seq <= to));
      const said = toChatEntries(given, { toolNames: known && new Set(Object.keys(known)) }).map(
        ({ message }) => message,
      );
      const judge = model();
      const system = report.instructions?.value as string | undefined;
      const messages = await convertToModelMessages(said, { tools: known });
      await streamText({ model: judge, system, messages }).consumeStream();
      const [asked] = judge.doStreamCalls;
      return { prompt: JSON.stringify({ prompt: asked?.prompt, tools: report.tools?.value }), report };
    }),
  );
}

describe.each(storeOfEachKind)('what a model of the AI SDK was given on $name', (store) => {
  it('is what its answer says, byte for byte, after tools, summaries, rewinds, and in another process', async () => {
    const { storage, destroy } = await store.open({});
    const first = new ChatApp(storage, tools);
    const [clock, brief] = [
      model(
        step(...thought('Hm.', 'sig'), ...text('Let me see.'), call('c1', 'clock', {})),
        step(...text('La', 'te.')),
        step(...text('Bye.')),
      ),
      model(step(...text('Still late.'))),
    ];
    const help = asking(clock, { system: 'Help Ann.', tools });
    await (
      await first.ask({ message: user('m1', 'How late is it?') }, help)
    ).result;
    await (
      await first.ask({ message: user('m2', 'Bye') }, help)
    ).result;
    const { lastSeq } = await first.sessions.listEvents({ ...KEY, limit: 1 });
    await first.sessions.rewindSession({ ...KEY, toSeq: lastSeq - 2 });
    const content = { role: 'user', parts: [{ text: 'Asked for the time.' }] };
    const summary = { id: 'summary:1', author: 'system', content, actions: { compaction: { fromSeq: 1, toSeq: 3 } } };
    await first.sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: summary });
    await first.close();
    const second = new ChatApp(storage, tools);
    const answer = await second.ask({ message: user('m3', 'And now?') }, asking(brief, { system: 'Be brief.', tools }));
    await answer.result;

    const facts = await stored(second, tools);
    expect(facts.map(({ prompt }) => prompt)).toEqual([...really(clock), ...really(brief)]);
    const reports = facts.map(({ report }) => report);
    expect(reports.map(({ isExact }) => isExact)).toEqual([true, true, true, true]);
    expect(reports.map(({ change }) => change?.isPromptSame)).toEqual([undefined, true, true, false]);
    expect(reports[0]).toMatchObject({
      given: [[1, 1]],
      model: 'scripted',
      durationMs: expect.any(Number) as number,
      usage: { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 3, thoughtsTokenCount: 2 },
      instructions: { value: 'Help Ann.' },
      tools: { value: [{ name: 'clock' }] },
    });
    expect(reports[1]?.given).toEqual([[1, 3]]);
    await second.close();
    await destroy();
  });
});

describe('turn.model', () => {
  let app: ChatApp;
  beforeEach(() => {
    app = new ChatApp(new InMemorySessionStorage());
  });
  afterEach(() => app.close());
  const say = async (id: string, handler: ChatHandler): Promise<unknown> =>
    (await app.ask({ message: user(id, `Say ${id}`) }, handler)).result;

  it('knows which messages an app left out', async () => {
    const scripted = model(step(...text('One.')), step(...text('Two.')), step(...text('Three.')));
    await say('m1', asking(scripted));
    await say('m2', asking(scripted));
    await say('m3', asking(scripted, { change: (messages) => messages.slice(-3) }));
    const facts = await stored(app);
    expect(facts.map(({ prompt }) => prompt)).toEqual(really(scripted));
    expect(facts.at(-1)?.report).toMatchObject({ given: [[3, 5]], isExact: true });
  });

  it('says so if an app changed the messages, or if a message could be another one', async () => {
    const scripted = model(step(...text('Yes.')), step(...text('Yes.')), step(...text('Yes.')));
    const note = { role: 'user', content: 'Be quick.' } as const;
    await say('m1', asking(scripted, { change: (messages) => [...messages, note] }));
    await (
      await app.ask({ message: user('m2', 'Say m1') }, asking(scripted))
    ).result;
    await say('m3', asking(scripted, { change: (messages) => messages.toSpliced(0, 1) }));
    const reports = (await stored(app)).map(({ report }) => report);
    expect(reports.map(({ given, isExact }) => ({ given, isExact }))).toEqual([
      { given: [[1, 1]], isExact: false },
      { given: [[1, 3]], isExact: true },
      { given: expect.anything() as unknown, isExact: false },
    ]);
  });

  it('does not say that it is exact if parts of an answer were left out', async () => {
    const scripted = model(step(call('c1', 'clock', {})), step(...text('Late.')), step(...text('Bye.')));
    await say('m1', asking(scripted, { tools }));
    const pruned = { toolCalls: 'before-last-message', emptyMessages: 'remove' } as const;
    await say('m2', asking(scripted, { tools, change: (messages) => pruneMessages({ ...pruned, messages }) }));
    expect((await stored(app)).map(({ report }) => report.isExact)).toEqual([true, true, false]);
  });

  it.each([true, false])('knows the answer to an approval, which is in an event of its own: %s', async (approved) => {
    const refund = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'refunded' });
    const scripted = model(step(call('c1', 'refund', {})), step(...text('Done.')), step(...text('Bye.')));
    const handler = asking(scripted, { tools: { refund } });
    await say('m1', handler);
    const [, asked] = await app.load();
    const parts = (asked?.parts ?? []).map((part) =>
      'approval' in part && part.approval
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved } }
        : part,
    );
    await (
      await app.ask({ message: { ...asked, parts } }, handler)
    ).result;
    await say('m2', handler);
    const facts = await stored(app);
    // The SDK words a denial in another way when it is new.
    expect(facts.map(({ report }) => report.isExact)).toEqual([true, approved, true]);
    const isExact = (_prompt: string, index: number): boolean => facts[index]?.report.isExact === true;
    expect(facts.map(({ prompt }) => prompt).filter(isExact)).toEqual(really(scripted).filter(isExact));
  });

  it('counts the tokens with what the model said while a tool works on', async () => {
    const slow = tool({ inputSchema: z.object({}), execute: () => until(async () => (await app.log()).length === 2) });
    const scripted = model(step(...text('Wait.'), call('c1', 'slow', {})), step(...text('Done.')));
    await say('m1', asking(scripted, { tools: { slow } }));
    const { events } = await app.sessions.listEvents(KEY);
    expect(
      events.map(({ usageMetadata, modelRequest }) => [usageMetadata?.totalTokenCount, modelRequest?.given]),
    ).toEqual([
      [undefined, undefined],
      [15, [[1, 1]]],
      [undefined, undefined],
      [15, [[1, 3]]],
    ]);
  });

  it('does not take a call that failed for a question', async () => {
    let calls = 0;
    const responseHeaders = { 'retry-after-ms': '1' };
    const ok = model(step(...text('Yes.')));
    const { doStream } = ok;
    ok.doStream = async (options) => {
      calls += 1;
      if (calls === 1)
        throw new APICallError({ message: 'busy', url: '', requestBodyValues: {}, isRetryable: true, responseHeaders });
      return doStream.call(ok, options);
    };
    await say('m1', asking(ok));
    expect((await stored(app)).map(({ report }) => report.given)).toEqual([[[1, 1]]]);
    expect(calls).toBe(2);
  });

  it('makes a message once in a run, however many steps it has', async () => {
    const made: string[] = [];
    const noting = {
      clock: tool({
        ...tools.clock,
        toModelOutput: ({ toolCallId, output }) => {
          made.push(toolCallId);
          return { type: 'json', value: output };
        },
      }),
    } satisfies ToolSet;
    const own = new ChatApp(new InMemorySessionStorage(), noting);
    const steps = ['c1', '', 'c2', 'c3', ''].map((id) =>
      step(...(id === '' ? text('Late.') : [call(id, 'clock', {})])),
    );
    const handler = asking(model(...steps), { tools: noting });
    await (
      await own.ask({ message: user('m1', 'How late?') }, handler)
    ).result;
    made.length = 0;
    await (
      await own.ask({ message: user('m2', 'And now?') }, handler)
    ).result;
    // The handler makes it, and the comparison.
    expect(made.filter((id) => id === 'c1')).toEqual(['c1', 'c1']);
    expect((await stored(own, noting)).map(({ report }) => report.isExact)).toEqual([true, true, true, true, true]);
    await own.close();
  });

  it('refuses the name of a model, which nobody could ask', async () => {
    await expect(say('m1', asking('openai/gpt-5' as never))).rejects.toMatchObject({
      cause: { code: 'INVALID_INPUT' },
    });
  });
});
