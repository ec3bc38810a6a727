import {
  CONTENT_REQUEST_PROCESSOR,
  FunctionTool,
  type InvocationContext,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  LogLevel,
  Runner,
  type Session as AdkSession,
  StreamingMode,
  setLogLevel,
} from '@google/adk';
import { z } from 'zod';
import { ModelRequestPlugin } from '../../../src/adapters/adk/index.js';
import type { LoggedEvent, ModelRequestReport } from '../../../src/index.js';
import { storeOfEachKind } from '../../support/stores.js';
import { KEY, type Services, USER, openServices, run, withServices } from './support/opened.js';
import { collected } from './support/collected.js';
import { ScriptedLlm, calls, says } from './support/scripted-llm.js';

setLogLevel(LogLevel.ERROR);

/** All that a model gets. */
interface Prompt {
  readonly contents: unknown;
  readonly instructions: unknown;
  readonly tools: unknown;
}

const clock = new FunctionTool({
  name: 'clock',
  description: 'Says how late it is.',
  parameters: z.object({}),
  execute: () => ({ late: 'very' }),
});

/** A model that notes what it really got. */
class NotingLlm extends ScriptedLlm {
  constructor(prompts: string[], ...answers: readonly (LlmResponse | readonly LlmResponse[])[]) {
    super(...answers);
    const ask = this.generateContentAsync.bind(this);
    this.generateContentAsync = (request: LlmRequest) => {
      const { contents, config: { systemInstruction: instructions, tools } = {} } = request;
      prompts.push(JSON.stringify({ contents, instructions, tools } satisfies Prompt));
      return ask(request);
    };
  }
}

function runnerOf({ adk }: Pick<Services, 'adk'>, agent: LlmAgent): Runner {
  return new Runner({ appName: USER.appName, agent, sessionService: adk, plugins: [new ModelRequestPlugin(adk)] });
}

/** What the answers of the log say that their models got, rendered by ADK. */
async function storedPrompts(
  { sessions, adk }: Services,
  agent: LlmAgent,
): Promise<readonly { readonly prompt: string; readonly report: ModelRequestReport }[]> {
  const { events: log } = await sessions.listEvents({ ...KEY, limit: 1_000 });
  const session = await adk.getSession(KEY);
  if (!session) throw new Error('There is no session');
  const answers = log.filter(({ modelRequest }) => modelRequest);
  return Promise.all(
    answers.map(async ({ seq }) => {
      const report = await sessions.getModelRequest({ ...KEY, seq });
      if (!report) throw new Error(`Event ${seq} says nothing about its request`);
      const given = report.given.flatMap(([from, to]) => log.filter((event) => event.seq >= from && event.seq <= to));
      const contents = await contentsOf(agent, session, given);
      const prompt: Prompt = { contents, instructions: report.instructions?.value, tools: report.tools?.value };
      return { prompt: JSON.stringify(prompt), report };
    }),
  );
}

async function contentsOf(agent: LlmAgent, session: AdkSession, given: readonly LoggedEvent[]): Promise<unknown> {
  const request: LlmRequest = { contents: [], toolsDict: {}, liveConnectConfig: {} };
  const context = { agent, session: { ...session, events: given } } as unknown as InvocationContext;
  await collected(CONTENT_REQUEST_PROCESSOR.runAsync(context, request));
  return request.contents;
}

describe.each(storeOfEachKind)('what a model of ADK was given on $name', (store) => {
  it('is what its answer says, byte for byte, after tools, summaries, rewinds, and in another process', () =>
    withServices(store, async (first) => {
      const prompts: string[] = [];
      const agentOf = (instruction: string, ...answers: readonly LlmResponse[]): LlmAgent =>
        new LlmAgent({ name: 'support', instruction, tools: [clock], model: new NotingLlm(prompts, ...answers) });
      await first.adk.createSession({ ...KEY, state: { name: 'Ann' } });
      const used = { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 } };
      const agent = agentOf('Help {name}.', calls('clock', {}), { ...says('Late.'), ...used }, says('Bye.'));
      const runner = runnerOf(first, agent);
      await run(runner, 'How late is it?');
      await run(runner, 'Bye');
      const { lastSeq } = await first.sessions.listEvents({ ...KEY, limit: 1 });
      await first.sessions.rewindSession({ ...KEY, toSeq: lastSeq - 2 });
      const content = { role: 'user', parts: [{ text: 'Asked for the time.' }] };
      const summary = { id: 'summary:1', author: 'system', content, actions: { compaction: { fromSeq: 1, toSeq: 2 } } };
      await first.sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: summary });
      const second = openServices(first.storage);
      await run(runnerOf(second, agentOf('Be brief, {name}.', says('Still late.'))), 'And now?');

      const stored = await storedPrompts(second, agent);
      expect(prompts).toHaveLength(4);
      expect(stored.map(({ prompt }) => prompt)).toEqual(prompts);
      const reports = stored.map(({ report }) => report);
      expect(reports.map(({ isExact }) => isExact)).toEqual([true, true, true, true]);
      expect(reports[1]).toMatchObject({ usage: used.usageMetadata, durationMs: expect.any(Number) as number });
      expect(reports.map(({ change }) => change?.isPromptSame)).toEqual([undefined, true, true, false]);
      expect(reports[0]?.instructions?.value).toContain('Help Ann.');
      expect(reports[0]?.tools?.value).toMatchObject([{ functionDeclarations: [{ name: 'clock' }] }]);
      await second.sessions.close();
    }));
});

describe('ModelRequestPlugin', () => {
  let services: Services;
  beforeEach(async () => {
    services = openServices();
    await services.adk.createSession(KEY);
  });
  afterEach(() => services.sessions.close());

  const reportsAfter = async (agent: LlmAgent): Promise<readonly ModelRequestReport[]> =>
    (await storedPrompts(services, agent)).map(({ report }) => report);

  it('marks the whole answer of a stream, once', async () => {
    const model = new NotingLlm([], [{ ...says('Good '), partial: true }, says('Good day'), says('More')]);
    const agent = new LlmAgent({ name: 'support', model });
    await run(runnerOf(services, agent), 'Hello', { runConfig: { streamingMode: StreamingMode.SSE } });
    expect(await reportsAfter(agent)).toMatchObject([{ seq: 2, given: [[1, 1]], isExact: true }]);
  });

  it('does not say that it is exact if a callback changed the messages after it', async () => {
    const agent = new LlmAgent({
      name: 'support',
      model: new NotingLlm([], says('Yes?')),
      beforeModelCallback: ({ request }) => {
        request.contents.push({ role: 'user', parts: [{ text: 'Be quick.' }] });
        return undefined;
      },
    });
    await run(runnerOf(services, agent), 'Hello');
    expect(await reportsAfter(agent)).toMatchObject([{ given: [[1, 1]], isExact: false }]);
  });

  it('knows what another agent said, and does not say that it is exact if an event could be another one', async () => {
    const session = { ...KEY, id: KEY.sessionId };
    const event = { author: 'writer', content: { role: 'model', parts: [{ text: 'A poem' }] } };
    await services.sessions.appendEvent({ session, event });
    const prompts: string[] = [];
    const agent = new LlmAgent({ name: 'support', model: new NotingLlm(prompts, says('Fine.')) });
    await run(runnerOf(services, agent), 'Hello');
    const [stored] = await storedPrompts(services, agent);
    expect(prompts).toEqual([stored?.prompt]);
    expect(stored?.report).toMatchObject({ given: [[1, 2]], isExact: true });
    const alone = new LlmAgent({ name: 'support', model: new NotingLlm([], says('Hm.')), includeContents: 'none' });
    await run(runnerOf(services, alone), 'Hello');
    expect((await reportsAfter(alone)).map(({ isExact }) => isExact)).toEqual([true, false]);
  });

  it('writes nothing for an answer that no model gave', async () => {
    const agent = new LlmAgent({
      name: 'support',
      model: new NotingLlm([]),
      beforeModelCallback: () => says('From a cache'),
    });
    await run(runnerOf(services, agent), 'Hello');
    expect(await reportsAfter(agent)).toEqual([]);
  });
});
