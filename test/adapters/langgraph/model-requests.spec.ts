import { InMemoryCache } from '@langchain/core/caches';
import { AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Annotation, Command, MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph';
import { JsonPlusSerializer } from '@langchain/langgraph-checkpoint';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { revivedValue } from '../../../src/adapters/langgraph/serialized-value.js';
import { messageItemOf } from '../../../src/adapters/langgraph/thread-records.js';
import type { ModelRequestReport, SessionService } from '../../../src/index.js';
import { storeOfEachKind } from '../../support/stores.js';
import { type Answer, ScriptedModel, callsClock, promptOf, saysIt } from './support/scripted-model.js';
import { CONFIG, KEY, human, openSaver } from './support/threads.js';

type Saver = ReturnType<typeof openSaver>['saver'];
type Messages = (typeof MessagesAnnotation)['State']['messages'];

const PROMPT = 'Help Ann.';
const clock = tool(() => 'very late', { name: 'clock', description: 'Says it.', schema: z.object({}) });

/** A graph that asks the model until it calls no tool. */
function agentOf(checkpointer: Saver, model: ScriptedModel, change = (messages: Messages): Messages => messages) {
  const bound = model.bindTools([clock]);
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({
      messages: [await bound.invoke([new SystemMessage(PROMPT), ...change(messages)])],
    }))
    .addNode('tools', new ToolNode([clock]))
    .addEdge(START, 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile({ checkpointer });
}

function noted(saver: Saver, config: typeof CONFIG = CONFIG) {
  return { ...config, callbacks: [saver.modelRequests(config)] };
}

/** What the answers of the log say that their models got, made of these events alone. */
async function stored(
  sessions: SessionService,
  sessionId: string = KEY.sessionId,
): Promise<{ prompt: string; report: ModelRequestReport }[]> {
  const serde = new JsonPlusSerializer();
  const { events: log } = await sessions.listEvents({ ...KEY, sessionId, limit: 1_000 });
  const answers = log.filter(({ modelRequest }) => modelRequest);
  return Promise.all(
    answers.map(async ({ seq }) => {
      const report = await sessions.getModelRequest({ ...KEY, sessionId, seq });
      if (!report) throw new Error(`Event ${seq} says nothing about its request`);
      const given = report.given.flatMap(([from, to]) => log.filter((event) => event.seq >= from && event.seq <= to));
      const said = given.flatMap((event) => messageItemOf(event) ?? []);
      const messages = (await Promise.all(said.map((item) => revivedValue(serde, item)))) as Messages;
      const value = report.instructions?.value;
      const system = typeof value === 'string' ? [new SystemMessage(value)] : [];
      const tools = (report.tools?.value ?? []) as readonly unknown[];
      return { prompt: promptOf([...system, ...messages], tools), report };
    }),
  );
}

async function reports(sessions: SessionService): Promise<ModelRequestReport[]> {
  return (await stored(sessions)).map(({ report }) => report);
}

function opened(...answers: readonly Answer[]) {
  return { ...openSaver(), model: new ScriptedModel(...answers) };
}

/** Exact, and what the model really got. */
async function expectExact(sessions: SessionService, model: ScriptedModel, sessionId?: string): Promise<void> {
  const facts = await stored(sessions, sessionId);
  expect(facts.map(({ report }) => report.isExact)).toEqual(model.prompts.map(() => true));
  expect(facts.map(({ prompt }) => prompt)).toEqual(model.prompts);
}

describe.each(storeOfEachKind)('what a model of a graph was given on $name', (store) => {
  it('is what its answer says, byte for byte, after tools, streamed, and in another process', async () => {
    const { storage, destroy } = await store.open({});
    const model = new ScriptedModel(callsClock('c1'), saysIt('Late.'), callsClock('c2'), saysIt('Later.'));
    const first = openSaver({}, storage);
    const agent = agentOf(first.saver, model);
    await agent.invoke(human('How late is it?'), noted(first.saver));
    for await (const _ of await agent.stream(human('Now?'), { ...noted(first.saver), streamMode: 'messages' }));
    await first.sessions.finish();
    const other = new ScriptedModel(saysIt('Bye.'));
    const second = openSaver({}, storage);
    await agentOf(second.saver, other).invoke(human('Bye'), noted(second.saver));

    const facts = await stored(second.sessions);
    expect(facts.map(({ prompt }) => prompt)).toEqual([...model.prompts, ...other.prompts]);
    const all = facts.map(({ report }) => report);
    expect(all.map(({ isExact }) => isExact)).toEqual([true, true, true, true, true]);
    expect(all.map(({ given }) => given.flatMap(([from, to]) => to - from + 1))).toMatchObject([
      [1],
      [1, 1, 1],
      [1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1, 1, 1, 1, 1],
    ]);
    expect(all.map(({ change }) => change?.isPromptSame)).toEqual([undefined, true, true, true, true]);
    expect(all[1]).toMatchObject({
      model: 'scripted-1',
      durationMs: expect.any(Number) as number,
      usage: { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 5, totalTokenCount: 15 },
      instructions: { value: PROMPT },
      tools: { value: [{ function: { name: 'clock' } }] },
    });
    await second.sessions.finish();
    await destroy();
  });
});

describe('saver.modelRequests', () => {
  it.each(['sync', 'async', 'exit'] as const)('knows each call of a node and its subgraph, %s', async (durability) => {
    const { sessions, saver, model } = opened(callsClock('c1'), saysIt('Late.'), saysIt('Bye.'));
    const inner = new StateGraph(MessagesAnnotation)
      .addNode('twice', async ({ messages }) => {
        const call = await model.invoke(messages);
        const result = new ToolMessage({ id: 't1', tool_call_id: 'c1', content: 'late' });
        return { messages: [call, result, await model.invoke([...messages, call, result])] };
      })
      .addEdge(START, 'twice')
      .compile();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('inner', inner)
      .addNode('last', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'inner')
      .addEdge('inner', 'last')
      .compile({ checkpointer: saver });
    await graph.invoke(human('How late?'), { ...noted(saver), durability });
    await expectExact(sessions, model);
    expect(model.prompts).toHaveLength(3);
    await sessions.close();
  });

  it('keeps two threads apart that answer at once with the same ids', async () => {
    const { sessions, saver } = openSaver();
    const threads = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const model = new ScriptedModel(new AIMessage({ id: 'same', content: name }), saysIt(`more ${name}`));
        const config = { configurable: { thread_id: name } };
        const agent = agentOf(saver, model);
        await agent.invoke(
          { messages: [new HumanMessage({ id: 'h', content: `I am ${name}` })] },
          noted(saver, config),
        );
        await agent.invoke(human('More'), noted(saver, config));
        return [name, model] as const;
      }),
    );
    for (const [name, model] of threads) await expectExact(sessions, model, name);
    await sessions.close();
  });

  it('knows what was trimmed, summarised, and taken out of the state', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'), saysIt('Two.'), saysIt('A summary.'), saysIt('Three.'));
    await agentOf(saver, model).invoke(human('1'), noted(saver));
    await agentOf(saver, model, (messages) => messages.slice(-1)).invoke(human('2'), noted(saver));
    const State = Annotation.Root({ ...MessagesAnnotation.spec, summary: Annotation<string> });
    const graph = new StateGraph(State)
      .addNode('shorten', async ({ messages }) => {
        const { text } = await model.invoke([...messages, new HumanMessage('Summarise.')]);
        return { summary: text, messages: messages.slice(0, -2).map(({ id = '' }) => new RemoveMessage({ id })) };
      })
      .addNode('model', async ({ messages, summary }) => ({
        messages: [await model.invoke([new SystemMessage(summary), ...messages])],
      }))
      .addEdge(START, 'shorten')
      .addEdge('shorten', 'model')
      .compile({ checkpointer: saver });
    await graph.invoke(human('3'), noted(saver));
    const facts = await stored(sessions);
    // The summary is no message.
    expect(facts.map(({ prompt }) => prompt)).toEqual(model.prompts.toSpliced(2, 1));
    expect(facts.map(({ report: { isExact } }) => isExact)).toEqual([true, true, true]);
    await sessions.close();
  });

  it('knows messages that the node of the answer takes out of the state', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'), saysIt('Two.'), saysIt('Three.'));
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => {
        const removed = messages.slice(0, -2).map(({ id = '' }) => new RemoveMessage({ id }));
        return { messages: [...removed, await model.invoke(messages)] };
      })
      .addEdge(START, 'model')
      .compile({ checkpointer: saver });
    for (const text of ['1', '2', '3']) await graph.invoke(human(text), noted(saver));
    await expectExact(sessions, model);
    await sessions.close();
  });

  it('is not exact about messages that are not in the log, or that were changed for the model', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'), saysIt('Two.'), saysIt('Three.'), saysIt('Four.'));
    await agentOf(saver, model, (messages) => [...messages, new HumanMessage('Be quick.')]).invoke(
      human('1'),
      noted(saver),
    );
    await agentOf(saver, model, ([one, ...others]) => [
      new HumanMessage({ id: one?.id ?? '', content: 'Something else' }),
      ...others,
    ]).invoke(human('2'), noted(saver));
    await agentOf(saver, model, ([one, ...others]) => [...others, ...(one ? [one] : [])]).invoke(
      human('3'),
      noted(saver),
    );
    // LangChain shows its callbacks another message in place of one with such a block.
    const image = { type: 'image', source_type: 'url', url: 'https://example.com/a.png' };
    await agentOf(saver, model).invoke({ messages: [new HumanMessage({ content: [image] })] }, noted(saver));
    expect((await reports(sessions)).map(({ isExact }) => isExact)).toEqual([false, false, false, false]);
    await sessions.close();
  });

  it('knows the call that was answered, not the one that failed', async () => {
    const { sessions, saver, model } = opened(new Error('busy'), saysIt('One.'));
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => {
        const last = await model.invoke([new SystemMessage('A'), ...messages]).catch(() => undefined);
        return { messages: [last ?? (await model.invoke([new SystemMessage('B'), ...messages]))] };
      })
      .addEdge(START, 'model')
      .compile({ checkpointer: saver });
    await graph.invoke(human('1'), noted(saver));
    const facts = await stored(sessions);
    expect(facts.map(({ prompt }) => prompt)).toEqual(model.prompts.slice(1));
    expect(facts[0]?.report).toMatchObject({ isExact: true, instructions: { value: 'B' } });
    await sessions.close();
  });

  it('knows an answer that waited for a question beside it', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'));
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('ask', () => ({ messages: [new HumanMessage(String(interrupt('Well?')))] }))
      .addEdge(START, 'model')
      .addEdge(START, 'ask')
      .compile({ checkpointer: saver });
    await graph.invoke(human('1'), noted(saver));
    expect(await stored(sessions)).toEqual([]);
    await graph.invoke(new Command({ resume: 'yes' }), CONFIG);
    await expectExact(sessions, model);
    await sessions.close();
  });

  it('says nothing of an answer that a cache gave', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'));
    model.cache = new InMemoryCache();
    const other = { configurable: { thread_id: 'other' } };
    for (const config of [CONFIG, other]) await agentOf(saver, model).invoke(human('1'), noted(saver, config));
    await expectExact(sessions, model);
    expect(await saver.getTuple(other)).toMatchObject({
      checkpoint: { channel_values: { messages: [{}, { text: 'One.' }] } },
    });
    expect(await stored(sessions, 'other')).toEqual([]);
    await sessions.close();
  });

  it('has the right numbers in more than one commit', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'), saysIt('Two.'));
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => {
        const one = await model.invoke(messages);
        const more = Array.from({ length: 120 }, (_, number) => new HumanMessage({ id: `h${number}`, content: 'x' }));
        return { messages: [one, ...more, await model.invoke([...messages, one, ...more])] };
      })
      .addEdge(START, 'model')
      .compile({ checkpointer: saver });
    await graph.invoke(human('1'), noted(saver));
    await expectExact(sessions, model);
    await sessions.close();
  });

  it('says of a prompt of several messages all that they say', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'));
    const cached = { type: 'text' as const, text: 'Help Ann.', cache_control: { type: 'ephemeral' } };
    const prompt = [new SystemMessage({ content: [cached] }), new SystemMessage('Be brief.')];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({ messages: [await model.invoke([...prompt, ...messages])] }))
      .addEdge(START, 'model')
      .compile({ checkpointer: saver });
    await graph.invoke(human('1'), noted(saver));
    const [report] = await reports(sessions);
    expect(report).toMatchObject({
      isExact: true,
      instructions: { value: { parts: [cached, { text: 'Be brief.' }] } },
    });
    await sessions.close();
  });

  it('writes nothing without the handler, and is refused where messages are hidden', async () => {
    const { sessions, saver, model } = opened(saysIt('One.'));
    await agentOf(saver, model).invoke(human('1'), CONFIG);
    expect(await stored(sessions)).toEqual([]);
    expect(() => saver.modelRequests({})).toThrow('configurable.thread_id');
    const { saver: hiding } = openSaver({ sessions, serde: new JsonPlusSerializer() });
    expect(() => hiding.modelRequests(CONFIG)).toThrow('serde');
    await sessions.close();
  });
});
