import { type AgentContext, type RunHandler, toMessages } from '../../src/agents/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { storeOfEachKind } from '../support/stores.js';
import { AgentApp, KEY, SESSION } from './support/agent-app.js';
import { text } from './support/handlers.js';

/** What each agent is asked, by its name, in the order of the questions. */
type Asked = Record<string, unknown[]>;

/** A sub-agent that asks its model with what its branch sees. */
function asking(asked: Asked): RunHandler {
  return async function* (context: AgentContext) {
    const { agentName: agent, branch } = context;
    const request = context.request({ format: 'openai', agent, branch });
    // Both ways to ask for messages give the same.
    expect(toMessages(context.history, { format: 'openai', agent, branch })).toEqual(request.messages);
    expect(toMessages(context.session, { format: 'openai', agent, branch })).toEqual(request.messages);
    (asked[agent] ??= []).push(request.messages.map(({ content }) => content));
    yield request.answered(text(`${agent} answers ${asked[agent].length}`));
  };
}

describe.each(storeOfEachKind)('agents with summaries of their branches on $name', ({ open }) => {
  let opened: OpenStorage;
  let app: AgentApp;
  let summaries: SummarizerSessionManager;

  beforeEach(async () => {
    opened = await open({});
    app = new AgentApp(opened.storage);
    const model = { name: 'short', summarize: async () => ({ text: 'what it found' }) };
    summaries = new SummarizerSessionManager(
      { sessions: app.sessions },
      { model, keepRecentEvents: 1, autoSummarize: false },
    );
  });

  afterEach(async () => {
    await summaries.close();
    await app.close();
    await opened.destroy();
    expect(app.errors).toEqual([]);
  });

  it('are given that of their own branch, and what came after it', async () => {
    const asked: Asked = {};
    const run = async (newMessage: string): Promise<void> => {
      await app.agents.run({ ...KEY, newMessage, agentName: 'root' }, async function* (context) {
        yield* context.runAs('researcher', asking(asked), 'root.researcher');
        yield* context.runAs('writer', asking(asked), 'root.writer');
        yield text('done');
      }).result;
    };
    await run('one');
    const summary = await summaries.createSessionSummary({ session: SESSION, branch: 'root.researcher', force: true });
    // Since keepRecentEvents is 1, all up to the answer of the root agent.
    expect(summary).toMatchObject({ branch: 'root.researcher', toSeq: 2, seq: 5 });
    await run('two');
    const told = ['For context:', '[root] said: done'].map((each) => ({ type: 'text', text: each }));
    expect(asked).toEqual({
      researcher: [['one'], ['[Previous Context Summary]:\nwhat it found', told, 'two']],
      writer: [['one'], ['one', 'writer answers 1', told, 'two']],
    });
    const answers = (await app.log()).filter(({ modelRequest }) => modelRequest);
    // The summary is among what the model was given, before what it does not cover.
    expect(answers.map(({ author, modelRequest }) => `${author} ${JSON.stringify(modelRequest?.given)}`)).toEqual([
      'researcher [[1,1]]',
      'writer [[1,1]]',
      'researcher [[5,5],[4,4],[6,6]]',
      'writer [[1,1],[3,4],[6,6]]',
    ]);
    const root = await app.sessions.getSession(KEY);
    const whole = toMessages(root ?? [], { format: 'openai' }).map(({ content }) => content);
    expect(whole).not.toContainEqual(expect.stringContaining('what it found'));
  });
});
