import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from '@langchain/core/messages';
import { Annotation, Command, END, MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph';
import { JsonPlusSerializer, emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import type { InMemorySessionStorage, LoggedEvent } from '../../../src/index.js';
import { toMessages } from '../../../src/agents/index.js';
import { StaleThreadError } from '../../../src/adapters/langgraph/index.js';
import type { Commit } from '../../../src/storage.js';
import { gate } from './support/gate.js';
import { CONFIG, KEY, USER, echoGraph, human, messagesIn, openSaver, putMessage } from './support/threads.js';

const State = Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation<string>, seen: Annotation<Set<string>> });
const CALL = { id: 'c1', name: 'find_order', args: { id: 4711 } };
const USAGE = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };

/** A model that calls a tool, which asks the user first. */
function toolGraph(checkpointer: ReturnType<typeof openSaver>['saver']) {
  return new StateGraph(State)
    .addNode('model', ({ messages }) =>
      messages.at(-1) instanceof ToolMessage
        ? { messages: [new AIMessage('It is on its way.')], topic: 'orders' }
        : {
            messages: [new AIMessage({ content: 'Wait.', tool_calls: [CALL], usage_metadata: USAGE })],
            seen: new Set(['a']),
          },
    )
    .addNode('tool', () => {
      const content: string = interrupt('May I look?');
      return { messages: [new ToolMessage({ tool_call_id: 'c1', name: 'find_order', content })] };
    })
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) =>
      messages.at(-1) instanceof AIMessage && messages.length < 3 ? 'tool' : END,
    )
    .addEdge('tool', 'model')
    .compile({ checkpointer });
}

function texts(events: readonly LoggedEvent[] = []): string[] {
  return events.flatMap(({ content }) => content?.parts?.flatMap(({ text }) => text ?? []) ?? []);
}

describe('A thread of LangGraph', () => {
  it('is a conversation with text, tool calls, state and usage for every other reader of the session', async () => {
    const { sessions, saver } = openSaver();
    const graph = toolGraph(saver);
    await graph.invoke(human('Where is my order?'), CONFIG);
    // Another process answers the interrupt.
    const other = openSaver({ sessions });
    const { messages, seen } = await toolGraph(other.saver).invoke(
      new Command({ resume: '{"status":"sent"}' }),
      CONFIG,
    );
    expect(messages.map(({ text }) => text)).toEqual([
      'Where is my order?',
      'Wait.',
      '{"status":"sent"}',
      'It is on its way.',
    ]);
    expect(seen).toEqual(new Set(['a']));

    const session = await sessions.getSession(KEY);
    expect(toMessages(session?.events ?? [], { format: 'openai' })).toEqual([
      { role: 'user', content: 'Where is my order?' },
      expect.objectContaining({
        role: 'assistant',
        content: 'Wait.',
        tool_calls: [expect.objectContaining({ id: 'c1' })],
      }),
      expect.objectContaining({ role: 'tool', tool_call_id: 'c1', content: '{"status":"sent"}' }),
      { role: 'assistant', content: 'It is on its way.' },
    ]);
    expect(session?.state.get('topic')).toBe('orders');
    expect(session?.state.has('seen')).toBe(false);
    expect(session?.conversationCount).toBe(1);
    expect((await sessions.getUsage(KEY)).total).toMatchObject({ totalTokens: 7 });
  });

  it('writes what is new, however long it is', async () => {
    const { storage, saver } = openSaver();
    const written: number[] = [];
    const append = storage.append.bind(storage);
    const read = jest.spyOn(storage, 'read');
    storage.append = (commit: Commit) => {
      written.push(commit.events.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0));
      return append(commit);
    };
    let checkpoint = emptyCheckpoint();
    const config = { configurable: { thread_id: 'chat-1', checkpoint_id: undefined as string | undefined } };
    const messages: HumanMessage[] = [];
    for (let index = 0; index < 300; index++) {
      messages.push(new HumanMessage({ id: `id-${1_000 + index}`, content: 'x'.repeat(500) }));
      const version = index + 1;
      checkpoint = {
        ...emptyCheckpoint(),
        channel_values: { messages: [...messages] },
        channel_versions: { messages: version },
      };
      const { configurable } = await saver.put(
        config,
        checkpoint,
        { source: 'loop', step: 1_000 + index, parents: {} },
        { messages: version },
      );
      config.configurable.checkpoint_id = configurable?.checkpoint_id as string;
    }
    expect(written).toHaveLength(300);
    // Numbers with more digits take a few bytes.
    expect(Math.max(...written.slice(1)) - Math.min(...written.slice(1))).toBeLessThan(32);
    expect(read.mock.calls.length).toBeLessThan(10);
    expect(await messagesIn(saver)).toHaveLength(300);
    // The next run, in another process: one read of the thread, then again only what is new.
    const { saver: next } = openSaver({}, storage);
    written.length = 0;
    await putMessage(next, 'one more');
    expect(written).toEqual([expect.any(Number)]);
    expect(written[0]).toBeLessThan(2_000);
    expect((await messagesIn(next)).at(-1)).toBe('one more');
  });

  it('keeps values that did not change where they are, and reads every earlier checkpoint', async () => {
    const { saver } = openSaver();
    const graph = echoGraph(saver);
    for (const text of ['one', 'two', 'three']) await graph.invoke(human(text), CONFIG);
    const states = [];
    for await (const { values } of graph.getStateHistory(CONFIG)) states.push(values.messages?.length ?? 0);
    expect(states).toEqual([6, 5, 4, 4, 3, 2, 2, 1, 0]);
  });

  it('keeps lists that were changed in the middle or shortened, and long ones', async () => {
    const { sessions, saver } = openSaver();
    const graph = echoGraph(saver);
    const many = Array.from({ length: 250 }, (_, index) => new HumanMessage({ id: `m${index}`, content: `${index}` }));
    await graph.updateState(CONFIG, { messages: many }, 'model');
    await graph.updateState(
      CONFIG,
      { messages: [new HumanMessage({ id: 'm2', content: 'changed' }), new RemoveMessage({ id: 'm249' })] },
      'model',
    );
    const expected = many
      .map(({ text }) => text)
      .with(2, 'changed')
      .slice(0, 249);
    expect(await messagesIn(saver)).toEqual(expected);
    expect(await messagesIn(openSaver({ sessions }).saver)).toEqual(expected);
  });

  it('refuses a run that another one overtook, before it stores anything', async () => {
    const { sessions, saver } = openSaver();
    await echoGraph(saver).invoke(human('first'), CONFIG);
    const other = openSaver({ sessions });
    const model = gate();
    const slow = echoGraph(saver, model.enter).invoke(human('slow'), { ...CONFIG, durability: 'sync' });
    await model.entered;
    await echoGraph(other.saver).invoke(human('fast'), CONFIG);
    model.open();
    const error: unknown = await slow.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StaleThreadError);
    expect(error).toMatchObject({ code: 'STALE_SESSION', status: 409, threadId: 'chat-1' });
    expect(await messagesIn(saver)).toEqual(['first', 'answer 1', 'slow', 'fast', 'answer 4']);
    // Whoever was refused starts again, and continues the other.
    await echoGraph(saver).invoke(human('again'), CONFIG);
    expect(await messagesIn(saver)).toHaveLength(7);
  });

  it('runs one after the other in turns, and refuses writes of a run that lost its turn', async () => {
    const { sessions, saver } = openSaver();
    const other = openSaver({ sessions });
    const model = gate();
    const graph = echoGraph(saver, model.enter);
    const first = saver.inTurn(CONFIG, (config) => graph.invoke(human('first'), config));
    await model.entered;
    const second = (waitMs: number) =>
      other.saver.inTurn(CONFIG, (config) => echoGraph(other.saver).invoke(human('second'), config), { waitMs });
    await expect(second(0)).rejects.toMatchObject({ code: 'TURN_HELD' });
    const queued = second(30_000);
    model.open();
    await Promise.all([first, queued]);
    expect(await messagesIn(saver)).toEqual(['first', 'answer 1', 'second', 'answer 3']);

    const lost = saver.inTurn(CONFIG, async (config) => {
      const token = (config.configurable as Record<string, unknown>)['__agent_sessions_turn'] as string;
      await sessions.endTurn({ ...KEY, token });
      await echoGraph(saver).invoke(human('late'), config);
    });
    await expect(lost).rejects.toMatchObject({ code: 'TURN_LOST' });
    expect(await messagesIn(saver)).toHaveLength(4);
  });

  it('takes the conversation back when a run begins at an earlier checkpoint, and forward again', async () => {
    const { sessions, saver } = openSaver();
    const graph = echoGraph(saver);
    await graph.invoke(human('one'), CONFIG);
    const early = await graph.getState(CONFIG);
    await graph.invoke(human('two'), CONFIG);
    const late = await graph.getState(CONFIG);
    const events = async () => texts((await sessions.getSession(KEY))?.events);

    await graph.invoke(human('other'), early.config);
    expect(await messagesIn(saver)).toEqual(['one', 'answer 1', 'other', 'answer 3']);
    expect(await events()).toEqual(['one', 'answer 1', 'other', 'answer 3']);

    await graph.invoke(human('three'), late.config);
    expect(await messagesIn(saver)).toEqual(['one', 'answer 1', 'two', 'answer 3', 'three', 'answer 5']);
    expect(await events()).toEqual(await messagesIn(saver));
  });

  it('goes back when the session is rewound, and continues there', async () => {
    const { sessions, saver } = openSaver();
    const graph = echoGraph(saver);
    await graph.invoke(human('one'), CONFIG);
    const { version: toSeq = 0 } = (await sessions.getSession(KEY)) ?? {};
    await graph.invoke(human('two'), CONFIG);
    await sessions.rewindSession({ ...KEY, toSeq });
    expect(await messagesIn(saver)).toEqual(['one', 'answer 1']);
    await graph.invoke(human('three'), CONFIG);
    expect(texts((await sessions.getSession(KEY))?.events)).toEqual(['one', 'answer 1', 'three', 'answer 3']);
  });

  it('copies a checkpoint with all its values, when LangGraph writes the copy without them', async () => {
    const { saver } = openSaver();
    const graph = echoGraph(saver);
    await graph.invoke(human('one'), CONFIG);
    const { config } = await graph.getState(CONFIG);
    await graph.updateState(config, null, '__copy__');
    expect(await messagesIn(saver)).toEqual(['one', 'answer 1']);
  });

  it('stores writes of a task once, and of errors the last ones', async () => {
    const { sessions, saver } = openSaver();
    await putMessage(saver, 'one');
    const { config = {} } = (await saver.getTuple(CONFIG)) ?? {};
    const { version = 0 } = (await sessions.getSession(KEY)) ?? {};
    for (let times = 0; times < 3; times++) await saver.putWrites(config, [['animals', 'dog']], 'task', 'a');
    expect((await sessions.getSession(KEY))?.version).toBe(version + 1);
    await saver.putWrites(config, [['animals', 'cat']], 'task', 'a');
    await saver.putWrites(config, [['__error__', 'old']], 'task', 'a');
    await saver.putWrites(config, [['__error__', 'new']], 'task', 'a');
    expect((await saver.getTuple(CONFIG))?.pendingWrites).toEqual([
      ['task', '__error__', 'new'],
      ['task', 'animals', 'dog'],
    ]);
  });

  it('keeps threads of users apart, and deletes them', async () => {
    const { sessions, saver } = openSaver({ userId: ({ configurable }) => String(configurable?.user) });
    const [ann, bob] = ['ann', 'bob'].map((user) => ({ configurable: { thread_id: 'chat-1', user } }));
    await putMessage(saver, 'of ann', ann);
    await putMessage(saver, 'of bob', bob);
    expect([await messagesIn(saver, ann), await messagesIn(saver, bob)]).toEqual([['of ann'], ['of bob']]);
    const threads = [];
    for await (const { config } of saver.list({ configurable: { user: 'ann' } })) threads.push(config);
    expect(threads).toHaveLength(1);
    await expect(saver.deleteThread('chat-1')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await saver.deleteThread('chat-1', 'ann');
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect([await saver.getTuple(ann ?? {}), await messagesIn(saver, bob)]).toEqual([undefined, ['of bob']]);
    // A new thread of the same id begins empty.
    await putMessage(saver, 'again', ann);
    expect(await messagesIn(saver, ann)).toEqual(['again']);
  });

  it('shows nothing that the app encrypts, and still writes only what is new', async () => {
    const serde = new ReversingSerializer();
    const { sessions, storage, saver } = openSaver({ serde });
    for (let index = 0; index < 20; index++) await putMessage(saver, `secret ${index} ${'x'.repeat(500)}`);
    expect(await messagesIn(saver)).toHaveLength(20);
    const { events } = await sessions.listEvents(KEY);
    const sizes = events.map((event) => JSON.stringify(event).length);
    expect(Math.max(...sizes)).toBeLessThan(2 * Math.min(...sizes));
    expect(JSON.stringify((storage as InMemorySessionStorage).snapshot())).not.toContain('secret');
  });

  it('keeps subgraphs in namespaces of their own, out of the conversation', async () => {
    const { sessions, saver } = openSaver();
    const inner = echoGraph(true as never);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('inner', inner)
      .addEdge(START, 'inner')
      .compile({ checkpointer: saver });
    await graph.invoke(human('one'), CONFIG);
    await graph.invoke(human('two'), CONFIG);
    const namespaces = new Set<string>();
    for await (const { config } of saver.list(CONFIG)) namespaces.add(String(config.configurable?.checkpoint_ns));
    expect(namespaces.size).toBeGreaterThan(1);
    expect(texts((await sessions.getSession(KEY))?.events)).toEqual(await messagesIn(saver));
  });

  it('begins anew in a fork of the session, and goes on in the session', async () => {
    const { sessions, saver } = openSaver();
    const graph = echoGraph(saver);
    await graph.invoke(human('one'), CONFIG);
    await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const fork = { configurable: { thread_id: 'fork' } };
    expect(await saver.getTuple(fork)).toBeUndefined();
    await graph.invoke(human('two'), fork);
    expect(await messagesIn(saver, fork)).toEqual(['two', 'answer 1']);
    const { events } = (await sessions.getSession({ ...USER, sessionId: 'fork' })) ?? {};
    expect(texts(events)).toEqual(['one', 'answer 1', 'two', 'answer 1']);
    expect(await messagesIn(saver)).toEqual(['one', 'answer 1']);
  });

  it('ignores checkpoints that a client wrote', async () => {
    const { sessions, saver } = openSaver();
    await putMessage(saver, 'one');
    const { events } = await sessions.listEvents(KEY);
    const forged = { ...events.at(-1), id: 'forged', author: 'user' };
    await sessions.appendEvent({ session: { ...USER, id: 'chat-1' }, event: forged });
    const listed = [];
    for await (const tuple of saver.list(CONFIG)) listed.push(tuple);
    expect(listed).toHaveLength(1);
  });
});

/** Stands for a cipher: the same value has another text each time. */
class ReversingSerializer extends JsonPlusSerializer {
  override async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    const [type, bytes] = await super.dumpsTyped(value);
    return [type, Uint8Array.of(...crypto.getRandomValues(new Uint8Array(4)), ...bytes.toReversed())];
  }

  override loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    if (typeof data === 'string') throw new TypeError('Bytes are given as bytes');
    return super.loadsTyped(type, data.subarray(4).toReversed());
  }
}
