import { once } from 'node:events';
import type { RunHandler } from '../../src/agents/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { firstStore } from '../support/stores.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, echo, inShort, text } from './support/handlers.js';

/** What tools did. */
const done: string[] = [];

const ask = (id: string) => ({ functionCall: { id, name: 'ask', args: {} } });

/** Asks for two things. */
const support: RunHandler = async function* (context) {
  if (!context.isResumed) yield { content: { role: 'model', parts: [ask('a'), ask('b')] } };
  yield await context.callTools({
    async ask(_args, tool) {
      const { confirmed } = await tool.requestApproval();
      if (confirmed) done.push(tool.functionCallId ?? '');
      return { confirmed };
    },
  });
  yield text('done');
};

describe.each(firstStore)('a run that waits for approvals is stopped on $name', ({ open }) => {
  let opened: OpenStorage;
  let one: AgentApp;
  let two: AgentApp;

  beforeEach(async () => {
    opened = await open({});
    one = new AgentApp(opened.storage);
    two = new AgentApp(opened.storage);
    done.length = 0;
  });

  afterEach(async () => {
    await one.close();
    await two.close();
    expect([...one.errors, ...two.errors]).toEqual([]);
    await opened.destroy();
  });

  const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1', agentName: 'agent' };
  const wanted = { ...KEY, invocationId: 'i-1' };
  const pending = async () => (await two.agents.pendingApprovals({ appName: 'shop', userId: 'ann' })).approvals;
  const answer = (id = 'a', confirmed = true) =>
    two.agents.answerApproval({ ...KEY, approvalId: `${id}@i-1`, answer: { confirmed } }, support).result;
  const ASKED = ['user hi', 'agent ?a ?b', 'agent ?a@i-1 ?b@i-1'];
  const ENDED = ['system stop', 'user !a@i-1', 'user !b@i-1', 'agent !a !b', 'agent - STOPPED'];

  it('from any process, which withdraws its requests and ends it', async () => {
    await one.agents.run(request, support).result;
    expect(await two.agents.stop({ ...KEY, invocationId: 'i-0' })).toBe(false);
    expect(await two.agents.stop(wanted)).toBe(true);
    expect(await one.logInShort()).toEqual([...ASKED, ...ENDED]);
    expect(await pending()).toEqual([]);
    expect((await one.sessions.getSession(KEY))?.metadata).toEqual({ fields: {}, labels: {}, tags: [] });
    expect(await two.agents.stop(wanted)).toBe(false);
    expect(await one.agents.run(request, support).result).toMatchObject({ status: 'stopped' });
    await one.agents.run({ ...KEY, newMessage: 'next' }, echo).result;
    expect((await one.logInShort()).slice(-2)).toEqual(['user next', 'agent echo: next']);
  });

  it('and answers after that are refused, yes and no', async () => {
    await one.agents.run(request, support).result;
    await answer('b', false);
    expect(await one.agents.stop(wanted)).toBe(true);
    const late = { code: 'APPROVAL_WITHDRAWN', approvalId: 'a@i-1' };
    for (const confirmed of [true, false]) await expect(answer('a', confirmed)).rejects.toMatchObject(late);
    await expect(answer('b', true)).rejects.toMatchObject({ code: 'APPROVAL_ANSWERED' });
    expect([done, await pending()]).toEqual([[], []]);
  });

  it('while another message is answered', async () => {
    await one.agents.run(request, support).result;
    const held = new HeldHandler();
    const run = one.agents.run({ ...KEY, newMessage: 'meanwhile' }, held.handler);
    await held.started;
    expect(await two.agents.stop(wanted)).toBe(true);
    expect(await pending()).toEqual([]);
    held.release();
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect((await one.logInShort()).slice(3)).toEqual(['user meanwhile', ...ENDED, 'agent done']);
  });

  it('in a session that accepts writes in turns only', async () => {
    await one.sessions.createSession({ ...KEY, turnsOnly: true });
    await one.agents.run(request, support).result;
    expect(await two.agents.stop(wanted)).toBe(true);
    expect(await one.logInShort()).toEqual([...ASKED, ...ENDED]);
    expect(await one.sessions.getTurn(KEY)).toBeUndefined();
  });

  it('also if its requests were rewound', async () => {
    await one.agents.run(request, support).result;
    await one.sessions.rewindSession({ ...KEY, invocationId: 'i-1' });
    expect(await two.agents.stop(wanted)).toBe(true);
    expect([(await one.logInShort()).at(-1), await pending()]).toEqual(['system withdrawn', []]);
  });

  it('and an answer whose turn has begun does not run the tool', async () => {
    await one.agents.run(request, support).result;
    const begun = new AbortController();
    const stored = new AbortController();
    const { appendEvents } = one.sessions;
    // The stop has seen no turn, and writes when the answer has one.
    one.sessions.appendEvents = async (...given) => {
      if (!begun.signal.aborted) await once(begun.signal, 'abort');
      return appendEvents.apply(one.sessions, given).finally(() => stored.abort());
    };
    const late: RunHandler = async function* (context) {
      begun.abort();
      if (!stored.signal.aborted) await once(stored.signal, 'abort');
      yield* support(context);
    };
    const stopping = one.agents.stop(wanted);
    const given = { ...KEY, approvalId: 'a@i-1', answer: { confirmed: true } };
    expect((await two.agents.answerApproval(given, late).result).status).toBe('stopped');
    expect([await stopping, done, await pending()]).toEqual([true, [], []]);
    expect((await one.logInShort()).at(-1)).toBe('agent - STOPPED');
  });

  it('and an answer that is about to go on is refused', async () => {
    await one.agents.run(request, support).result;
    // The stop has seen no turn, and writes when the answer has read the session.
    one.sessions.getTurn = () => Promise.resolve(undefined);
    const { getSession } = two.sessions;
    two.sessions.getSession = async (...given) => {
      const session = await getSession.apply(two.sessions, given);
      await one.agents.stop(wanted);
      return session;
    };
    await expect(answer()).rejects.toMatchObject({ code: 'APPROVAL_WITHDRAWN' });
    expect([done, (await one.logInShort()).at(-1)]).toEqual([[], 'agent - STOPPED']);
  });

  it('also if the stop comes while it asks', async () => {
    const { appendEvents } = one.sessions;
    one.sessions.appendEvents = async (commit) => {
      const asks = commit.events.some(({ actions }) => actions && 'awaitsApproval' in actions);
      if (asks) expect(await two.agents.stop(wanted)).toBe(true);
      return appendEvents.call(one.sessions, commit);
    };
    expect((await one.agents.run(request, support).result).status).toBe('stopped');
    expect([await pending(), (await one.logInShort()).at(-1)]).toEqual([[], 'agent - STOPPED']);
  });

  it('before or after an answer that comes at the same time, never between the answer and its tool', async () => {
    for (let round = 0; round < 10; round++) {
      const invocationId = `i-${round}`;
      done.length = 0;
      await one.agents.run({ ...request, invocationId }, support).result;
      const given = { ...KEY, approvalId: `a@${invocationId}`, answer: { confirmed: true } };
      const answered = two.agents.answerApproval(given, support).result.then(
        ({ status }) => status as string,
        (error: { code: string }) => error.code,
      );
      const stopped = await one.agents.stop({ ...KEY, invocationId });
      const outcome = await answered;
      expect(['stopped', 'waiting', 'APPROVAL_WITHDRAWN']).toContain(outcome);
      if (outcome === 'APPROVAL_WITHDRAWN') expect(done).toEqual([]);
      // The answer came first, and the run waits for the other one.
      if (!stopped || (await pending()).length > 0) await one.agents.stop({ ...KEY, invocationId });
      const log = inShort((await one.log()).filter((event) => event.invocationId === invocationId));
      expect([outcome, log.at(-1)]).toEqual([outcome, 'agent - STOPPED']);
      expect(await pending()).toEqual([]);
    }
  });
});
