import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage, ToolMessage } from '@langchain/core/messages';
import { Command, END, MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { Pool } from 'pg';
import { SessionChatHistory } from '../../src/adapters/langgraph/index.js';
import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { importRecords, langGraphThreads } from '../../src/transfer/index.js';
import { pick } from '../adapters/adk/support/random-events.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { randomNumbers, seed } from '../support/random.js';
import { type OpenDatabase, postgres, sqlite } from './foreign-servers.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const THREADS = ['t-1', 't-2', 'fäden/3'];
const STEPS = 14;
const TEXTS = ['Hello', 'Grüße 🙂 "quoted"', '{"a":[1]}', 'look', 'ask', 'forget'];

interface OpenSaver {
  readonly saver: BaseCheckpointSaver;
  readonly end: () => unknown;
}

const SAVERS = [
  {
    ...sqlite,
    async saverOf({ dbName }: OpenDatabase): Promise<OpenSaver> {
      const saver = SqliteSaver.fromConnString(dbName);
      return { saver, end: () => saver.db.close() };
    },
  },
  {
    ...postgres,
    async saverOf({ login }: OpenDatabase): Promise<OpenSaver> {
      const pool = new Pool({ connectionString: login.clientUrl });
      // Connections may still be closing when the database goes.
      pool.on('error', () => undefined);
      const saver = new PostgresSaver(pool);
      await saver.setup();
      return { saver, end: () => saver.end() };
    },
  },
];

describeChosen('threads that a saver of LangGraph has written to $name', SAVERS, ({ open, saverOf }) => {
  it('have the messages that the graph shows, and the events that the adapter writes, after the import', async () => {
    const opened = await open();
    const { saver, end } = await saverOf(opened);
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    try {
      const graph = graphOf(saver);
      await converse(graph);
      const read = () => langGraphThreads(opened.database, OWNER);
      expect(await importRecords(storage, read())).toMatchObject({ sessions: { created: THREADS.length }, bad: 0 });
      for (const sessionId of THREADS) {
        const { values, createdAt } = await graph.getState({ configurable: { thread_id: sessionId } });
        const history = new SessionChatHistory({ sessions, ...OWNER, sessionId });
        const messages = values.messages as BaseMessage[];
        // It answers a call that the graph left open, with a message that has no id.
        const shown = (await history.getMessages()).filter(({ id }) => id !== undefined);
        expect(shown.map(shownOf)).toEqual(validOf(messages).map(shownOf));
        const key = { ...OWNER, sessionId: `written/${sessionId}` };
        await new SessionChatHistory({ sessions, ...key }).addMessages(messages);
        expect(await saidIn(sessions, sessionId)).toEqual(await saidIn(sessions, key.sessionId));
        const session = await sessions.getSession({ ...OWNER, sessionId });
        expect(session?.lastUpdateTime).toBe(Date.parse(createdAt ?? ''));
      }
      expect(await importRecords(storage, read())).toMatchObject({
        sessions: { unchanged: THREADS.length },
        events: 0,
      });
    } catch (error) {
      throw new Error(`SEED=${seed} repeats it`, { cause: error });
    } finally {
      await end();
      await opened.destroy();
      await sessions.close();
    }
  });
});

/** A model with a tool, and with a graph inside that asks the user. The last word of the user says what happens. */
function graphOf(checkpointer: BaseCheckpointSaver) {
  const asking = new StateGraph(MessagesAnnotation)
    .addNode('ask', () => ({ messages: [new AIMessage(`You said ${interrupt('May I?')}`)] }))
    .addEdge(START, 'ask')
    .compile();
  const call = { name: 'find', args: { order_id: 7, nested: { a: [null] } }, type: 'tool_call' as const };
  let calls = 0;
  return new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => {
      const last = messages.at(-1);
      if (last?.text === 'look')
        return {
          messages: [
            new AIMessage({
              content: 'Wait.',
              tool_calls: [{ ...call, id: `c-${++calls}` }],
              response_metadata: { n: 1 },
            }),
          ],
        };
      if (last?.text === 'forget')
        return { messages: messages.slice(0, 2).map(({ id = '' }) => new RemoveMessage({ id })) };
      const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
      const blocks = [
        { type: 'text', text: 'Seen.' },
        { type: 'reasoning', reasoning: 'why' },
      ];
      return { messages: [new AIMessage({ content: blocks, usage_metadata: usage, additional_kwargs: { a_b: 1 } })] };
    })
    .addNode('tool', ({ messages }) => {
      const calling = messages.at(-1);
      const tool_call_id = (AIMessage.isInstance(calling) && calling.tool_calls?.[0]?.id) || '';
      const content = '{"status":"sent"}';
      return { messages: [new ToolMessage({ tool_call_id, name: 'find', content, artifact: { raw: [1] } })] };
    })
    .addNode('asking', asking)
    .addConditionalEdges(START, ({ messages }) => (messages.at(-1)?.text === 'ask' ? 'asking' : 'model'))
    .addConditionalEdges('model', ({ messages }) => {
      const last = messages.at(-1);
      return last instanceof AIMessage && last.tool_calls?.length ? 'tool' : END;
    })
    .addEdge('tool', 'model')
    .compile({ checkpointer });
}

/** Random turns in several threads, some from an earlier checkpoint, some that wait for the user. */
async function converse(graph: ReturnType<typeof graphOf>): Promise<void> {
  const random = randomNumbers(seed);
  for (let step = 0; step < STEPS; step++) {
    const config = { configurable: { thread_id: THREADS[step] ?? pick(random, THREADS) } };
    const { next } = await graph.getState(config);
    if (next.length > 0 && random() < 0.7) {
      await graph.invoke(new Command({ resume: 'yes' }), config);
      continue;
    }
    const history = [];
    for await (const { config: earlier } of graph.getStateHistory(config)) history.push(earlier);
    const from = history.length > 0 && random() < 0.3 ? pick(random, history) : config;
    const message = new HumanMessage(pick(random, TEXTS));
    if (random() < 0.2) await graph.updateState(from, { messages: [message] }, 'model');
    else await graph.invoke({ messages: [message] }, from);
  }
}

/** The events without what depends on when they were written, and without the record of what the adapter itself wrote. */
async function saidIn(sessions: SessionService, sessionId: string): Promise<EventInput[]> {
  const { events } = await sessions.listEvents({ ...OWNER, sessionId });
  const said = events.filter(({ author }) => author !== 'langgraph');
  return said.map(({ id: _id, invocationId: _invocation, timestamp: _time, ...event }) => event);
}

/** A history leaves out a result whose call was removed, since models refuse it. */
function validOf(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.filter((message, at) => {
    const before = messages[at - 1];
    return !ToolMessage.isInstance(message) || (AIMessage.isInstance(before) && before.tool_calls?.length === 1);
  });
}

function shownOf(message: BaseMessage): unknown {
  return JSON.parse(JSON.stringify(message.toDict()));
}
