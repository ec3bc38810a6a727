import { type AgentContext, type MessageFormat, agentLoop, toMessages } from '../../src/agents/index.js';
import { givenRanges } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { ScriptedModel as ScriptedAnswers } from '../../src/testing/index.js';
import { AgentApp } from '../agents/support/agent-app.js';
import { storeOfEachKind } from '../support/stores.js';
import { ScriptedModel, agent, user } from './summarized-sessions.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const FORMATS: readonly MessageFormat[] = ['openai', 'anthropic', 'google', 'ai-sdk'];
const TOOLS = [{ name: 'time', parameters: { type: 'object' } }];

class ExtendingModel extends ScriptedModel {
  readonly extendsLastRequest = true;

  get last() {
    return this.requests.at(-1)?.lastRequest;
  }
}

function force(manager: SummarizerSessionManager, more: object = {}) {
  return manager.createSessionSummary({ session: SESSION, force: true, ...more });
}

describe.each(storeOfEachKind)('A summary that extends the last request on $name', ({ open }) => {
  let opened: OpenStorage;
  let app: AgentApp;
  let model: ExtendingModel;
  let managers: SummarizerSessionManager[];

  beforeEach(async () => {
    opened = await open({});
    app = new AgentApp(opened.storage);
    model = new ExtendingModel();
    managers = [];
  });

  afterEach(async () => {
    for (const manager of managers) await manager.close();
    await app.close();
    await opened.destroy();
  });

  function summaries(options: SummarizerOptions = {}): SummarizerSessionManager {
    const manager = new SummarizerSessionManager(
      { sessions: app.sessions },
      { turns: 0, contentLength: 0, autoSummarize: false, keepRecentEvents: 2, model, ...options },
    );
    managers.push(manager);
    return manager;
  }

  /** A turn with a call of a tool. Returns the messages that the model was given last, and their options. */
  async function turn(number: number, format: MessageFormat): Promise<string> {
    const answers = new ScriptedAnswers<object>([{ calls: [{ name: 'time' }] }, `Answer ${number}.`]);
    let asked = '';
    const loop = agentLoop({
      model: (context: AgentContext) => {
        const request = context.request({ instructions: 'Be brief.', tools: TOOLS, format });
        asked = JSON.stringify(request.messages);
        return request.answered(answers.ask({ messages: request.messages }));
      },
      tools: { time: () => ({ hour: number }) },
    });
    await app.agents.run({ ...KEY, newMessage: `Question ${number}?`, invocationId: `i-${number}` }, loop).result;
    return asked;
  }

  it.each(FORMATS)('begins with it byte for byte, after summaries and in parts too (%s)', async (format) => {
    const manager = summaries({ segments: 3 });
    for (let number = 1; number <= 6; number++) {
      const asked = await turn(number, format);
      if (number % 2 === 1) continue;
      const written = await force(manager);
      const { given = [], later = [], instructions, tools, answer, task } = model.last ?? {};
      expect({ instructions, tools }).toEqual({ instructions: 'Be brief.', tools: TOOLS });
      expect(JSON.stringify(toMessages(given, { format }))).toBe(asked);
      const whole = JSON.stringify(toMessages([...given, ...later], { format }));
      expect(whole.startsWith(asked.slice(0, -1))).toBe(true);
      expect(answer?.content?.parts).toEqual([{ text: `Answer ${number}.` }]);
      expect(later.map(({ seq }) => seq)).toEqual([answer?.seq]);
      expect(task).toContain(`up to the last message that begins with "Question ${number}?"`);
      expect(task?.includes('word for word')).toBe(number > 2);
      expect(written?.promptVersion).toBe('extends-1');
    }
  });

  it('has the prompt alone where that request cannot be made again', async () => {
    const manager = summaries();
    const says = (text: string) => app.sessions.appendEvent({ session: SESSION, event: user(text) });
    const answers = (modelRequest: object) =>
      app.sessions.appendEvent({ session: SESSION, event: { ...agent('yes'), modelRequest: modelRequest as never } });
    await app.sessions.createSession(KEY);
    for (const text of ['one', 'two', 'three']) await says(text);

    await force(manager);
    expect(model.requests).toHaveLength(1);
    expect(model.last).toBeUndefined(); // No answer says what its model was given.

    for (const text of ['four', 'five', 'six']) await says(text);
    await answers({ given: [[4, 7]], isExact: false });
    await force(manager);
    expect(model.last).toBeUndefined(); // It is not known exactly.

    for (const text of ['seven', 'eight', 'nine']) await says(text);
    await answers({ given: [[12, 12]] });
    await force(manager);
    expect(model.last).toBeUndefined(); // It had only some of the events, and not the summary.

    const { events = [] } = (await app.sessions.getSession(KEY)) ?? {};
    await answers({ ...givenRanges(events), promptHash: 'x'.repeat(43) });
    for (const text of ['ten', 'eleven']) await says(text);
    await force(manager);
    expect(model.requests).toHaveLength(4);
    expect(model.last).toBeUndefined(); // Its instructions are not kept.

    const { events: seen = [] } = (await app.sessions.getSession(KEY)) ?? {};
    await answers(givenRanges(seen));
    for (const text of ['twelve', 'and', 'a half']) await says(text);
    const remove = manager.hooks.onBeforeSummary(({ conversation }) => conversation.slice(1));
    await force(manager);
    expect(model.requests).toHaveLength(5);
    expect(model.last).toBeUndefined(); // A hook took something out.

    remove();
    const { events: known = [] } = (await app.sessions.getSession(KEY)) ?? {};
    await answers(givenRanges(known));
    await says('thirteen');
    await says('fourteen');
    await force(manager);
    expect(model.requests).toHaveLength(6);
    expect(model.last?.given.map(({ seq }) => seq)).toEqual(known.map(({ seq }) => seq));
    expect(model.last?.later.map(({ content }) => content?.parts?.[0]?.text)).toEqual(['yes', 'thirteen', 'fourteen']);
  });

  it('is that of the branch for a summary of a branch', async () => {
    const manager = summaries();
    await app.sessions.createSession(KEY);
    const branch = 'root.writer';
    const append = (event: object) => app.sessions.appendEvent({ session: SESSION, event });
    for (const text of ['one', 'two', 'three']) {
      await append({ ...agent(text), branch });
      await append({ ...agent(`other ${text}`), branch: 'root.reader' });
    }
    await append({
      ...agent('four'),
      branch,
      modelRequest: {
        given: [
          [1, 1],
          [3, 3],
          [5, 5],
        ],
      },
    });
    await force(manager, { branch });
    expect(model.last?.given.map(({ seq }) => seq)).toEqual([1, 3, 5]);
    expect(model.last?.later.map(({ seq }) => seq)).toEqual([7]);
  });

  it('needs no other request to compare with', async () => {
    const read = jest.spyOn(opened.storage, 'read');
    const readsOf = async (manager: SummarizerSessionManager, turns: number[]): Promise<number> => {
      for (const number of turns) await turn(number, 'openai');
      read.mockClear();
      await force(manager);
      return read.mock.calls.length;
    };
    const usual = await readsOf(summaries({ model: new ScriptedModel() }), [1, 2, 3]);

    const extending = await readsOf(summaries(), [4, 5, 6]);

    expect(model.last).toMatchObject({ instructions: 'Be brief.', tools: TOOLS });
    expect(extending).toBe(usual + 1); // What comes after its input.
  });

  it('is nothing that a model gets which does not ask for it', async () => {
    await turn(1, 'openai');
    await turn(2, 'openai');
    const plain = new ScriptedModel();
    await force(summaries({ model: plain }));
    expect(plain.requests).toHaveLength(1);
    expect(plain.requests[0]).not.toHaveProperty('lastRequest');
  });
});
