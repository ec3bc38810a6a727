import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage, SystemMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { type BaseCheckpointSaver, MemorySaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { InMemorySessionStorage, type SessionService } from '../../../src/index.js';
import { runsOr, searching } from '../../differential/runs.js';
import { CountingStorage } from '../../support/counting-storage.js';
import { CALLERS, saversOf } from './support/savers.js';
import { ScriptedModel, saysIt } from './support/scripted-model.js';
import { CONFIG, KEY, human, openSaver } from './support/threads.js';

const USED = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

function says(id: string, content = id): HumanMessage {
  return new HumanMessage({ id, content });
}

function answers(id: string): AIMessage {
  return new AIMessage({ id, content: id, usage_metadata: USED });
}

function graphWith(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('node', () => ({}))
    .addEdge(START, 'node')
    .compile({ checkpointer });
}

async function said(sessions: SessionService): Promise<(string | undefined)[]> {
  const { events } = await sessions.listEvents({ ...KEY, limit: 1_000 });
  return events.flatMap(({ content }) => content?.parts?.map(({ text }) => text) ?? []);
}

async function tokens(sessions: SessionService): Promise<number> {
  const { events } = await sessions.listEvents({ ...KEY, limit: 1_000 });
  return events.reduce((sum, { usageMetadata }) => sum + (usageMetadata?.totalTokenCount ?? 0), 0);
}

/** The messages of all checkpoints, newest first. */
async function history(saver: BaseCheckpointSaver): Promise<string[]> {
  const lists: string[] = [];
  for await (const { checkpoint } of saver.list(CONFIG)) lists.push(JSON.stringify(checkpoint.channel_values.messages));
  return lists;
}

/** Writes a checkpoint with these messages. */
async function putMessages(saver: BaseCheckpointSaver, step: number, messages: readonly BaseMessage[]): Promise<void> {
  const before = await saver.getTuple(CONFIG);
  const last = before?.checkpoint ?? emptyCheckpoint();
  const version = saver.getNextVersion(last.channel_versions.messages as never);
  const checkpoint = {
    ...last,
    id: uuid6(step),
    channel_values: { messages: [...messages] },
    channel_versions: { messages: version },
  };
  const metadata = { source: 'loop' as const, step, parents: {} };
  await saver.put(before?.config ?? CONFIG, checkpoint, metadata, { messages: version });
}

describe('What follows a message that a graph removed', () => {
  it('is no event again, in this process and in the next one', async () => {
    const { sessions, saver } = openSaver();
    const given = [says('h1'), answers('a1'), says('h2'), answers('a2')];
    await graphWith(saver).invoke({ messages: given }, CONFIG);
    await graphWith(saver).invoke({ messages: [new RemoveMessage({ id: 'h1' }), says('h3')] }, CONFIG);
    const next = openSaver({ sessions }).saver;
    await graphWith(next).invoke({ messages: [new RemoveMessage({ id: 'h2' }), answers('a3')] }, CONFIG);
    expect(await said(sessions)).toEqual(['h1', 'a1', 'h2', 'a2', 'h3', 'a3']);
    expect(await tokens(sessions)).toBe(45);
    for (const reader of [saver, openSaver({ sessions }).saver]) {
      const { messages = [] } = (await graphWith(reader).getState(CONFIG)).values as { messages?: BaseMessage[] };
      expect(messages.map(({ id }) => id)).toEqual(['a1', 'a2', 'h3', 'a3']);
    }
    await sessions.close();
  });

  it('is said again behind one that was changed or put before it, and costs nothing then', async () => {
    const { sessions, saver } = openSaver();
    await graphWith(saver).invoke({ messages: [says('h1'), answers('a1'), says('h2'), answers('a2')] }, CONFIG);
    await graphWith(saver).invoke({ messages: [says('h2', 'changed')] }, CONFIG);
    expect(await said(sessions)).toEqual(['h1', 'a1', 'h2', 'a2', 'changed', 'a2']);
    await putMessages(saver, 100, [new SystemMessage({ id: 's', content: 'short' }), answers('a2')]);
    expect(await said(sessions)).toEqual(['h1', 'a1', 'h2', 'a2', 'changed', 'a2', 'short', 'a2']);
    expect(await tokens(sessions)).toBe(30);
    await putMessages(saver, 101, [new AIMessage({ id: 'a3', content: 'draft' }), answers('a2')]);
    await putMessages(saver, 102, [answers('a3'), answers('a2')]);
    expect(await tokens(sessions)).toBe(45);
    await sessions.close();
  });

  it.each(CALLERS)('is in all checkpoints as with MemorySaver, whatever changes, %s', async (caller) => {
    const message = fc.tuple(fc.nat(7), fc.constantFrom('', '!')).map(([id, mark]) => says(`m${id}`, `${id}${mark}`));
    const lists = fc.array(fc.uniqueArray(message, { selector: ({ id }) => id, maxLength: 8 }), { maxLength: 8 });
    const property = fc.asyncProperty(lists, async (steps) => {
      const own = saversOf(caller, new InMemorySessionStorage());
      const judge = new MemorySaver();
      for (const [step, messages] of steps.entries()) {
        await putMessages(own(), step, messages);
        await putMessages(judge, step, messages);
      }
      expect(await history(own())).toEqual(await history(judge));
    });
    await fc.assert(property, { ...searching, numRuns: runsOr(40) });
  });
});

describe('saver.modelRequests', () => {
  it('reads nothing of the thread for a step with an answer, and knows what was removed', async () => {
    const counting = new CountingStorage(new InMemorySessionStorage());
    const { sessions, saver } = openSaver({}, counting.storage);
    const model = new ScriptedModel(...Array.from({ length: 41 }, (_, index) => saysIt(`${index}`)));
    let steps = 0;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addConditionalEdges('model', () => (++steps % 20 === 0 ? '__end__' : 'model'))
      .addEdge(START, 'model')
      .compile({ checkpointer: saver });
    const noted = { ...CONFIG, callbacks: [saver.modelRequests(CONFIG)], recursionLimit: 50 };
    await graph.invoke(human('Go'), noted);
    expect(counting.taken().events).toBeLessThan(5);
    const [first] = (await graph.getState(CONFIG)).values.messages;
    await graph.invoke({ messages: [new RemoveMessage({ id: first?.id ?? '' })] }, noted);
    const { events } = await sessions.listEvents({ ...KEY, limit: 1_000 });
    const facts = events.flatMap(({ modelRequest }) => modelRequest ?? []);
    expect(facts).toHaveLength(40);
    expect(facts.filter(({ isExact }) => isExact === false)).toEqual([]);
    await sessions.close();
  });
});
