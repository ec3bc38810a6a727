import { HumanMessage } from '@langchain/core/messages';
import { Annotation, Command, END, START, Send, StateGraph, interrupt } from '@langchain/langgraph';
import { type BaseCheckpointSaver, MemorySaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { InMemorySessionStorage } from '../../../src/index.js';
import { StaleThreadError } from '../../../src/adapters/langgraph/index.js';
import { CountingStorage } from '../../support/counting-storage.js';
import { gate } from './support/gate.js';
import { State, says } from './support/graph-state.js';
import { slowStorage } from './support/slow-storage.js';
import { subgraph } from './support/subgraph-scenarios.js';
import { CONFIG, KEY, echoGraph, human, messagesIn, openSaver, putMessage } from './support/threads.js';

const CHECKPOINT = { ...emptyCheckpoint(), id: uuid6(1) };
const METADATA = { source: 'loop' as const, step: 1, parents: {} };

function longNotes(from: number): string[] {
  return Array.from({ length: 30 }, (_, index) => `${from + index} ${'x'.repeat(90)}`);
}

function at(checkpoint: string) {
  return { configurable: { ...CONFIG.configurable, checkpoint_ns: '', checkpoint_id: checkpoint } };
}

async function listed(saver: BaseCheckpointSaver) {
  const tuples = [];
  for await (const tuple of saver.list(CONFIG)) tuples.push(tuple);
  return tuples;
}

/** A graph whose subgraph keeps its thread, and waits inside its node. */
function graphAround(checkpointer: BaseCheckpointSaver, wait: (log: readonly string[]) => unknown) {
  const inner = new StateGraph(State)
    .addNode('work', async ({ log }) => {
      await wait(log);
      return says(`worked after ${log.length}`);
    })
    .addEdge(START, 'work')
    .compile({ checkpointer: true });
  return new StateGraph(State).addNode('inner', inner).addEdge(START, 'inner').compile({ checkpointer });
}

/** A graph whose tasks run one subgraph at the same time: what it answers the second time. */
async function answerOfSharedSubgraph(checkpointer: BaseCheckpointSaver): Promise<string[]> {
  const graph = new StateGraph(State)
    .addNode('plan', () => ({}))
    .addNode(
      'inner',
      subgraph('inner', 'of the thread', () => 0),
    )
    .addEdge(START, 'plan')
    .addConditionalEdges('plan', () => ['x', 'y', 'z'].map((item) => new Send('inner', { log: [item], item })))
    .compile({ checkpointer });
  await graph.invoke(says('one'), CONFIG);
  const { log } = await graph.invoke(says('two'), CONFIG);
  return log.toSorted();
}

/** A graph that asks, and waits when it has the answer. */
function askingGraph(checkpointer: BaseCheckpointSaver, wait: () => unknown = () => undefined) {
  return new StateGraph(State)
    .addNode('ask', async () => {
      const said = interrupt<string, string>('Which?');
      await wait();
      return says(said);
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer });
}

describe('Writes of tasks', () => {
  it('belong to their checkpoint if they were stored before it, also for another process', async () => {
    const { sessions, saver } = openSaver();
    await putMessage(saver, 'one');
    const parent = await saver.getTuple(CONFIG);
    // As LangGraph does when the checkpoint waits behind another one.
    await saver.putWrites(at(CHECKPOINT.id), [['animals', 'dog']], 'early', 'a');
    await saver.put(parent?.config ?? {}, CHECKPOINT, METADATA, {});
    await saver.putWrites(at(CHECKPOINT.id), [['animals', 'cat']], 'late', 'b');
    const writes = [
      ['early', 'animals', 'dog'],
      ['late', 'animals', 'cat'],
    ];
    for (const reader of [saver, openSaver({ sessions }).saver]) {
      expect((await reader.getTuple(CONFIG))?.pendingWrites).toEqual(writes);
      expect((await reader.getTuple(at(CHECKPOINT.id)))?.pendingWrites).toEqual(writes);
      expect((await listed(reader)).map(({ pendingWrites }) => pendingWrites)).toEqual([writes, []]);
    }
  });

  it('belong to it if another process stored the checkpoint, and if it is stored again', async () => {
    const { sessions, saver } = openSaver();
    await putMessage(saver, 'one');
    const parent = await saver.getTuple(CONFIG);
    const other = openSaver({ sessions }).saver;
    await saver.putWrites(at(CHECKPOINT.id), [['animals', 'dog']], 'a');
    for (const writer of [other, saver]) {
      await writer.put(parent?.config ?? {}, CHECKPOINT, METADATA, {});
      const writes = [['a', 'animals', 'dog']];
      expect((await saver.getTuple(CONFIG))?.pendingWrites).toEqual(writes);
      expect((await listed(saver)).map(({ pendingWrites }) => pendingWrites)).toEqual([writes, []]);
    }
  });

  it('do no harm if their checkpoint never comes', async () => {
    const { sessions, saver } = openSaver();
    const graph = echoGraph(saver);
    await graph.invoke(human('one'), CONFIG);
    await saver.putWrites(at(CHECKPOINT.id), [['messages', [new HumanMessage('lost')]]], 'task');
    await saver.putWrites(at(CHECKPOINT.id), [['__error__', 'lost']], 'task');
    expect(await saver.getTuple(at(CHECKPOINT.id))).toBeUndefined();
    await echoGraph(openSaver({ sessions }).saver).invoke(human('two'), CONFIG);
    expect(await messagesIn(saver)).toEqual(['one', 'answer 1', 'two', 'answer 3']);
    expect((await listed(saver)).flatMap(({ pendingWrites }) => pendingWrites ?? [])).not.toContainEqual(
      expect.arrayContaining(['lost']),
    );
  });

  it('keep the order in which they were called, however long it takes to serialize them', async () => {
    const { saver } = openSaver();
    await putMessage(saver, 'one');
    const { config = {} } = (await saver.getTuple(CONFIG)) ?? {};
    const dumps = saver.serde.dumpsTyped.bind(saver.serde);
    saver.serde.dumpsTyped = async (value) => {
      if (value === 'old') for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      return dumps(value);
    };
    await Promise.all(['old', 'new'].map((error) => saver.putWrites(config, [['__error__', error]], 'task')));
    expect((await saver.getTuple(CONFIG))?.pendingWrites).toEqual([['task', '__error__', 'new']]);
  });
});

describe('A checkpoint', () => {
  it('is read with its writes without reading the thread, however old it is', async () => {
    const counting = new CountingStorage(new InMemorySessionStorage());
    const { sessions, saver } = openSaver({}, counting.storage);
    const graph = new StateGraph(State)
      .addNode('node', () => says('said'))
      .addEdge(START, 'node')
      .compile({ checkpointer: saver });
    await graph.invoke({ last: 'first' }, CONFIG);
    const [old] = await listed(saver);
    for (let count = 0; count < 100; count++) await graph.invoke({ last: `${count}` }, CONFIG);
    expect((await sessions.getSession(KEY))?.version).toBeGreaterThan(400);
    for (const config of [old?.config ?? {}, CONFIG]) {
      counting.taken();
      expect(await openSaver({}, counting.storage).saver.getTuple(config)).toBeDefined();
      expect(counting.taken().events).toBeLessThan(150);
    }
  });

  it('keeps a list that was short for some steps, and grows long in another process', async () => {
    const Notes = Annotation.Root({
      notes: Annotation<string[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
    });
    const { sessions, saver } = openSaver();
    const graph = (checkpointer: typeof saver) =>
      new StateGraph(Notes)
        .addNode('read', () => ({}))
        .addEdge(START, 'read')
        .compile({ checkpointer });
    await graph(saver).invoke({ notes: longNotes(0) }, CONFIG);
    const next = openSaver({ sessions }).saver;
    await graph(next).invoke({ notes: longNotes(30) }, CONFIG);
    const expected = [...longNotes(0), ...longNotes(30)];
    expect((await next.get(CONFIG))?.channel_values.notes).toEqual(expected);
    expect((await openSaver({ sessions }).saver.get(CONFIG))?.channel_values.notes).toEqual(expected);
  });
});

describe('A single run', () => {
  it('is not refused if several of its tasks run one subgraph that keeps its thread', async () => {
    for (const delays of [1, 2, 3]) {
      const { saver } = openSaver({}, slowStorage(new InMemorySessionStorage(), delays));
      expect(await answerOfSharedSubgraph(saver)).toEqual(await answerOfSharedSubgraph(new MemorySaver()));
    }
  });
});

describe('A run that another one overtook', () => {
  it('is refused, even if somebody read the thread in the meantime, and reads its history itself', async () => {
    const { sessions, saver } = openSaver();
    const model = gate();
    const graph = echoGraph(saver, async (said) => {
      if (said !== 'slow') return;
      await model.enter();
      await graph.getState(CONFIG);
      await listed(saver);
    });
    await graph.invoke(human('first'), CONFIG);
    const slow = graph.invoke(human('slow'), { ...CONFIG, durability: 'sync' });
    await model.entered;
    const { config } = await graph.getState(CONFIG);
    await echoGraph(openSaver({ sessions }).saver).invoke(human('fast'), CONFIG);
    await graph.getState(config);
    await listed(saver);
    model.open();
    const error: unknown = await slow.catch((thrown: unknown) => thrown);
    const newest = (await graph.getState(CONFIG)).config.configurable?.checkpoint_id as string;
    expect(error).toMatchObject({ code: 'STALE_SESSION', currentCheckpointId: newest });
    expect((error as Error).message).toContain('another run continued it, or it was rewound');
    expect(await messagesIn(saver)).toEqual(['first', 'answer 1', 'slow', 'fast', 'answer 4']);
  });

  it('is refused in its subgraph', async () => {
    const { sessions, saver } = openSaver();
    const work = gate();
    const slow = graphAround(saver, (log) => (log.includes('slow') ? work.enter() : undefined));
    await slow.invoke(says('first'), CONFIG);
    const running = slow.invoke(says('slow'), { ...CONFIG, durability: 'sync' });
    await work.entered;
    await graphAround(openSaver({ sessions }).saver, () => undefined).invoke(says('fast'), CONFIG);
    work.open();
    await expect(running).rejects.toBeInstanceOf(StaleThreadError);
    const { values } = await slow.getState(CONFIG);
    expect(values.log).toEqual(expect.arrayContaining(['fast']));
  });

  it('is refused when it answers a question that was answered elsewhere', async () => {
    const { sessions, saver } = openSaver();
    const answer = gate();
    await askingGraph(saver).invoke(says('go'), CONFIG);
    const slow = askingGraph(saver, answer.enter).invoke(new Command({ resume: 'red' }), CONFIG);
    await answer.entered;
    await askingGraph(openSaver({ sessions }).saver).invoke(new Command({ resume: 'blue' }), CONFIG);
    answer.open();
    await expect(slow).rejects.toBeInstanceOf(StaleThreadError);
    expect((await askingGraph(saver).getState(CONFIG)).values.log).toEqual(['go', 'blue']);
  });

  it('learns that the thread was deleted', async () => {
    const { saver } = openSaver();
    const model = gate();
    const graph = echoGraph(saver, (said) => (said === 'slow' ? model.enter() : undefined));
    await graph.invoke(human('first'), CONFIG);
    const slow = graph.invoke(human('slow'), { ...CONFIG, durability: 'sync' });
    await model.entered;
    await saver.deleteThread('chat-1');
    model.open();
    await expect(slow).rejects.toThrow('it was deleted, or rewound to before its first checkpoint');
  });

  it.each(['sync', 'async'] as const)(
    'creates no session of a user who was erased meanwhile (%s)',
    async (durability) => {
      const { sessions, saver } = openSaver();
      const model = gate();
      const graph = echoGraph(saver, model.enter);
      const slow = graph.invoke(human('slow'), { ...CONFIG, durability });
      await model.entered;
      await graph.getState(CONFIG);
      await sessions.eraseUser(KEY);
      model.open();
      await expect(slow).rejects.toBeInstanceOf(StaleThreadError);
      expect((await sessions.listSessions(KEY)).sessions).toEqual([]);
      await graph.invoke(human('anew'), CONFIG);
      expect(await messagesIn(saver)).toEqual(['anew', 'answer 1']);
    },
  );
});
