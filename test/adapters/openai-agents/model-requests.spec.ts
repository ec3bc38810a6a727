import { Logger } from '@nestjs/common';
import { Agent, type AgentInputItem, Runner, Usage, tool } from '@openai/agents-core';
import { ScriptedModel, assistantMessage, functionCall, modelResponse } from '@openai/agents-core/testing';
import { z } from 'zod';
import { itemHistory } from '../../../src/adapters/openai-agents/item-history.js';
import type { ModelRequestReport, SessionService } from '../../../src/index.js';
import { storeOfEachKind } from '../../support/stores.js';
import { KEY, openSession, said } from './support/sessions.js';

type Step = ConstructorParameters<typeof ScriptedModel>[0] extends Iterable<infer Each> | undefined ? Each : never;

const runner = new Runner({ tracingDisabled: true });
const usage = (): Usage =>
  new Usage({
    requests: 1,
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 15,
    inputTokensDetails: { cached_tokens: 4 },
  });
const says = (text: string): Step => modelResponse({ output: [assistantMessage(text)], usage: usage() });
/** Many servers name a call once: the SDK does not store the other id. */
const calls = (callId: string, id?: string): Step => {
  const { id: _id, ...call } = functionCall('clock', {}, { callId });
  return modelResponse({ output: [{ ...call, ...(id !== undefined && { id }) }], usage: usage() });
};

const clock = tool({ name: 'clock', description: 'Says it.', parameters: z.object({}), execute: () => 'very late' });

/** What apps may do with the items of a request. */
const lastOnly = (history: AgentInputItem[], added: AgentInputItem[]): AgentInputItem[] => [
  ...history.slice(-1),
  ...added,
];
const firstReplaced = ({ modelData }: { modelData: { input: AgentInputItem[] } }) => ({
  ...modelData,
  input: [said('Be quick.'), ...modelData.input.slice(1)],
});

interface Prompt {
  readonly input: unknown;
  readonly instructions: unknown;
  readonly tools: unknown;
}

/** What the model really got. */
function really(model: ScriptedModel): string[] {
  return model.calls.map(({ request }) => {
    const { input, systemInstructions: instructions, tools, handoffs } = request;
    return JSON.stringify({ input, instructions, tools: [...tools, ...handoffs] } satisfies Prompt);
  });
}

/** What the answers of the log say that their models got, made of these events alone. */
async function stored(sessions: SessionService): Promise<{ prompt: string; report: ModelRequestReport }[]> {
  const { events: log } = await sessions.listEvents({ ...KEY, limit: 1_000 });
  const answers = log.filter(({ modelRequest }) => modelRequest);
  return Promise.all(
    answers.map(async ({ seq }) => {
      const report = await sessions.getModelRequest({ ...KEY, seq });
      if (!report) throw new Error(`Event ${seq} says nothing about its request`);
      const given = report.given.flatMap(([from, to]) => log.filter((event) => event.seq >= from && event.seq <= to));
      const input = itemHistory(given).entries.map(({ item }) => item);
      const prompt: Prompt = { input, instructions: report.instructions?.value, tools: report.tools?.value };
      return { prompt: JSON.stringify(prompt), report };
    }),
  );
}

describe.each(storeOfEachKind)('what a model of the OpenAI Agents SDK was given on $name', (store) => {
  it('is what its answer says, byte for byte, after tools, summaries, rewinds, and in another process', async () => {
    const { storage, destroy } = await store.open({});
    const [model, other] = [
      new ScriptedModel([calls('c1'), says('Late.'), says('Bye.')]),
      new ScriptedModel([says('Still late.')]),
    ];
    const { sessions, session } = openSession({ model: 'gpt-5' }, storage);
    const agent = new Agent({
      name: 'support',
      instructions: 'Help Ann.',
      model: session.model(model),
      tools: [clock],
    });
    await runner.run(agent, 'How late is it?', { session });
    const streamed = await runner.run(agent, 'Bye', { session, stream: true });
    await streamed.completed;
    const { lastSeq } = await sessions.listEvents({ ...KEY, limit: 1 });
    await sessions.rewindSession({ ...KEY, toSeq: lastSeq - 2 });
    const content = { role: 'user', parts: [{ text: 'Asked for the time.' }] };
    const summary = { id: 'summary:1', author: 'system', content, actions: { compaction: { fromSeq: 1, toSeq: 3 } } };
    await sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: summary });
    await sessions.finish();
    const second = openSession({}, storage);
    const brief = second.session.model(other);
    const later = new Agent({ name: 'support', instructions: 'Be brief.', model: brief, tools: [clock] });
    await runner.run(later, 'And now?', { session: second.session });

    const facts = await stored(second.sessions);
    expect(facts.map(({ prompt }) => prompt)).toEqual([...really(model), ...really(other)]);
    const reports = facts.map(({ report }) => report);
    expect(reports.map(({ isExact }) => isExact)).toEqual([true, true, true, true]);
    expect(reports.map(({ given }) => given).slice(0, 3)).toEqual([[[1, 1]], [[1, 3]], [[1, 5]]]);
    expect(reports.map(({ change }) => change?.isPromptSame)).toEqual([undefined, true, true, false]);
    expect(reports[0]).toMatchObject({
      model: 'gpt-5',
      durationMs: expect.any(Number) as number,
      usage: { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 5, totalTokenCount: 15 },
      instructions: { value: 'Help Ann.' },
      tools: { value: [{ name: 'clock' }] },
    });
    const { events } = await second.sessions.listEvents({ ...KEY, limit: 1_000 });
    expect(events.reduce((sum, { usageMetadata }) => sum + (usageMetadata?.totalTokenCount ?? 0), 0)).toBe(60);
    await second.sessions.finish();
    await destroy();
  });
});

describe('session.model', () => {
  const { sessions, session } = openSession();
  afterAll(() => sessions.close());

  const reportsAfter = async (model: ScriptedModel, input: string | AgentInputItem[], more: object = {}) => {
    await runner.run(new Agent({ name: 'support', model: session.model(model) }), input, { session, ...more });
    return (await stored(sessions)).map(({ report }) => report);
  };

  it('knows what a callback left out, and what a filter replaced', async () => {
    const model = new ScriptedModel([says('One.'), says('Two.'), says('Three.')]);
    await reportsAfter(model, '1');
    expect(await reportsAfter(model, '2', { sessionInputCallback: lastOnly })).toMatchObject([
      { given: [[1, 1]], isExact: true },
      { given: [[2, 3]], isExact: true },
    ]);
    expect((await reportsAfter(model, '3', { callModelInputFilter: firstReplaced })).at(-1)).toMatchObject({
      given: [[2, 5]],
      isExact: false,
    });
  });

  it('knows the calls of a run, but is not exact about ids of them that the SDK does not store', async () => {
    const own = openSession();
    const model = own.session.model(new ScriptedModel([calls('c1', 'fc_1'), says('Late.')]));
    await runner.run(new Agent({ name: 'support', model, tools: [clock] }), 'How late?', { session: own.session });
    expect((await stored(own.sessions)).map(({ report }) => report)).toMatchObject([
      { given: [[1, 1]], isExact: true },
      { given: [[1, 3]], isExact: false },
    ]);
    await own.sessions.close();
  });

  it('has the right numbers if somebody else writes at the same time', async () => {
    const model = new ScriptedModel([says('Four.')]);
    const { lastSeq } = await sessions.listEvents({ ...KEY, limit: 1 });
    const append = sessions.appendEvents.bind(sessions);
    jest.spyOn(sessions, 'appendEvents').mockImplementationOnce(async (request) => {
      const event = { author: 'other', content: { role: 'model', parts: [{ text: 'Meanwhile' }] } };
      await append({ session: request.session, events: [event] });
      return append(request);
    });
    const report = (await reportsAfter(model, '4')).at(-1);
    expect(report).toMatchObject({
      seq: lastSeq + 3,
      given: [
        [1, lastSeq],
        [lastSeq + 2, lastSeq + 2],
      ],
      isExact: true,
    });
  });

  it('says once that answers in more than one commit, or in a transaction, say nothing', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const many = Array.from({ length: 100 }, (_, number) => said(`${number}`));
    const tooMany = openSession();
    const model = tooMany.session.model(new ScriptedModel([says('One.'), says('Two.')]));
    const agent = new Agent({ name: 'support', model });
    for (let run = 0; run < 2; run++) await runner.run(agent, many, { session: tooMany.session });
    expect(await stored(tooMany.sessions)).toEqual([]);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('101 items are more than one commit has')]]);

    const changed = openSession();
    const blocked = changed.session.model(new ScriptedModel([says('No.')]));
    const { output: items } = await runner.run(new Agent({ name: 'support', model: blocked }), 'Hello');
    const transaction = { type: 'append_items' as const, items };
    await changed.session.applyHistoryTransaction({ operationId: 'op', transaction });
    expect(await stored(changed.sessions)).toEqual([]);
    expect(warn).toHaveBeenLastCalledWith(expect.stringContaining('a transaction stores it'));
    expect(warn).toHaveBeenCalledTimes(2);
    warn.mockRestore();
    await Promise.all([tooMany.sessions.close(), changed.sessions.close()]);
  });

  it('refuses the name of a model, which nobody could ask', () => {
    expect(() => session.model('gpt-5' as never)).toThrow('must be a model object');
  });
});
