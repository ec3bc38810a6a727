import { Agent, type AgentInputItem, Runner, Usage, tool } from '@openai/agents-core';
import { ScriptedModel, assistantMessage, functionCall, modelResponse } from '@openai/agents-core/testing';
import { z } from 'zod';
import { AgentsSession, BranchedAgentsSession } from '../../../src/adapters/openai-agents/index.js';
import { SessionService, encryptedStorage } from '../../../src/index.js';
import { KEY_A } from '../../encryption/support.js';
import { firstStore } from '../../support/stores.js';
import { KEY, answered, called, openSession, said, sessionsOn, textsOf } from './support/sessions.js';

const TALK = [said('Hello'), answered('Hi'), said('A refund, please'), called('c1'), answered('Done'), said('Thanks')];

describe.each(firstStore)('Branches of a session of the SDK in $name', (store) => {
  const { open } = sessionsOn(store);

  async function branched() {
    const { sessions } = await open();
    const session = new BranchedAgentsSession({ sessions, ...KEY });
    await session.addItems(TALK);
    return { sessions, session };
  }

  it('are listed while metadata is encrypted', async () => {
    const { storage: plain } = await open();
    const storage = encryptedStorage(plain, { keys: KEY_A, metadata: 'sealed' });
    const session = new BranchedAgentsSession({ sessions: new SessionService({ storage }), ...KEY, userId: 'sealed' });
    await session.addItems(TALK);
    await session.createBranchFromTurn(2, 'polite');
    expect(await session.listBranches()).toMatchObject([{ name: 'main' }, { name: 'polite', isCurrent: true }]);
  });

  it('hold the conversation before a turn, and go on apart from the others', async () => {
    const { session, sessions } = await branched();
    expect(await session.createBranchFromTurn(2, 'polite')).toBe('polite');
    expect(session.currentBranch).toBe('polite');
    expect(await session.getItems()).toEqual(TALK.slice(0, 2));
    await session.addItems([said('May I ask?')]);
    await session.switchToBranch('main');
    expect(await session.getItems()).toEqual(TALK);
    const name = await session.createBranchFromContent('REFUND');
    expect(await session.getItems()).toEqual(TALK.slice(0, 2));
    await session.createBranchFromTurn(1, 'empty');
    expect(await session.getItems()).toEqual([]);
    expect(await session.listBranches()).toMatchObject([
      { name: 'main', userTurns: 3, isCurrent: false, sessionId: KEY.sessionId },
      { name: 'polite', userTurns: 2, isCurrent: false },
      { name, userTurns: 1 },
      { name: 'empty', userTurns: 0, isCurrent: true },
    ]);
    // Another object of the same session knows them, and begins at main.
    const other = new BranchedAgentsSession({ sessions, ...KEY });
    expect(other.currentBranch).toBe('main');
    await other.switchToBranch('polite');
    expect(textsOf(await other.getItems())).toEqual(['Hello', 'Hi', 'May I ask?']);
  });

  it('hold what a compaction left of the conversation before a turn, also without the last events of the compaction', async () => {
    const { sessions } = await open();
    const session = new BranchedAgentsSession({ sessions, ...KEY });
    const others = new AgentsSession({ sessions, ...KEY });
    await session.addItems([said('u1'), answered('a1'), said('u2'), answered('a2')]);
    await session.getItems();
    await others.addItems([said('meanwhile')]);
    await session.replaceHistoryWithCompaction([said("u1'"), answered('summary'), said("u2'")]);
    await session.addItems([answered('a3')]);
    const branch = async (turn: number) => {
      await session.switchToBranch('main');
      await session.createBranchFromTurn(turn);
      return textsOf(await session.getItems());
    };
    expect(await branch(1)).toEqual([]);
    expect(await branch(2)).toEqual(["u1'", 'summary']);
    await session.addItems([said('else')]);
    expect(textsOf(await session.getItems())).toEqual(["u1'", 'summary', 'else']);
    expect(await branch(3)).toEqual(["u1'", 'summary', "u2'"]);
    expect(await session.listBranches()).toHaveLength(4);

    // In several commits, with one by somebody else between them.
    await session.switchToBranch('main');
    const long = Array.from({ length: 150 }, (_, index) => (index % 2 === 0 ? said : answered)(`${index}`));
    const append = sessions.appendEvents.bind(sessions);
    await session.getItems();
    jest.spyOn(sessions, 'appendEvents').mockImplementationOnce(async (request) => {
      const stored = await append(request);
      await others.addItems([said('between')]);
      return stored;
    });
    await session.replaceHistoryWithCompaction(long);
    expect(await branch(2)).toEqual(['0', '1']);
    expect(await branch(70)).toEqual(textsOf(long.slice(0, 138)));
    expect(await branch(76)).toEqual(textsOf(long));
  });

  it('hold what others wrote during a compaction', async () => {
    const { sessions } = await open();
    const session = new BranchedAgentsSession({ sessions, ...KEY });
    const others = new AgentsSession({ sessions, ...KEY });
    await session.addItems([said('x')]);
    await session.popItem();
    await session.addItems([said('q')]);
    await session.getItems();
    await others.addItems([said('meanwhile')]);
    await session.replaceHistoryWithCompaction([answered('summary')]);
    await session.addItems([said('last')]);
    await session.createBranchFromContent('last');
    expect(textsOf(await session.getItems())).toEqual(['summary', 'meanwhile']);
  });

  it('can be deleted, except main and, without force, the current one', async () => {
    const { session, sessions } = await branched();
    await session.createBranchFromTurn(3, 'b');
    await expect(session.createBranchFromTurn(1, 'b')).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    await expect(session.deleteBranch('b')).rejects.toThrow('current branch');
    await expect(session.deleteBranch('main')).rejects.toThrow('main');
    await expect(session.createBranchFromTurn(1, 'main')).rejects.toThrow('main');
    await session.deleteBranch('b', { force: true });
    expect(session.currentBranch).toBe('main');
    expect(await session.getItems()).toEqual(TALK);
    for (const none of ['b', 'other']) {
      await expect(session.switchToBranch(none)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      await expect(session.deleteBranch(none)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
    // A session that happens to have such an id is no branch.
    await sessions.createSession({ ...KEY, sessionId: `${KEY.sessionId}~mine` });
    await expect(session.deleteBranch('mine')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await session.listBranches()).toHaveLength(1);
    await expect(session.createBranchFromTurn(9)).rejects.toThrow('no turn');
    await expect(session.createBranchFromContent('nothing like it')).rejects.toThrow('no message');
  });

  it('are found by turns, with their tools', async () => {
    const { session } = await branched();
    const turns = await session.turns();
    expect(turns.map(({ turn, content }) => [turn, content])).toEqual([
      [1, 'Hello'],
      [2, 'A refund, please'],
      [3, 'Thanks'],
    ]);
    expect(turns[1]?.items).toEqual(TALK.slice(2, 5));
    expect((await session.findTurnsByContent('refund')).map(({ turn }) => turn)).toEqual([2]);
    expect(await session.getToolUsage()).toEqual([{ tool: 'lookup', turn: 2, count: 1 }]);
    await session.popItem();
    expect(await session.turns()).toHaveLength(2);
    expect(await new BranchedAgentsSession({ ...session['options'], sessionId: 'none' }).turns()).toEqual([]);
    await session.addItems([{ role: 'user', content: [null] } as unknown as AgentInputItem]);
    expect((await session.turns()).at(-1)?.content).toBe('');
  });
});

function usage(input: number): Usage {
  return new Usage({
    requests: 1,
    inputTokens: input,
    outputTokens: 5,
    totalTokens: input + 5,
    inputTokensDetails: { cached_tokens: 3 },
    outputTokensDetails: { reasoning_tokens: 2 },
  });
}

describe('Tokens of runs', () => {
  const lookup = tool({
    name: 'lookup',
    description: 'Looks.',
    parameters: z.object({}),
    needsApproval: true,
    execute: async () => 'found',
  });
  const runner = new Runner({ tracingDisabled: true });

  it('are counted once, by turn, for the session and its user, also by runs that another process began', async () => {
    const { sessions } = openSession();
    const open = () => new BranchedAgentsSession({ sessions, ...KEY, model: 'gpt-test' });
    const session = open();
    const model = new ScriptedModel([
      modelResponse({ output: [assistantMessage('Hi')], usage: usage(10) }),
      modelResponse({ output: [functionCall('lookup', {}, { callId: 'c1' })], usage: usage(20) }),
      modelResponse({ output: [assistantMessage('Found')], usage: usage(30) }),
    ]);
    const agent = new Agent({ name: 'support', model, tools: [lookup] });
    const first = await runner.run(agent, 'Hello', { session });
    await session.storeRunUsage(first);
    await session.storeRunUsage(first);
    expect(await session.getTurnUsage(1)).toEqual({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 });
    const second = await runner.run(agent, 'Look', { session });
    const text = second.state.toString();
    // As in another process.
    const { RunState } = await import('@openai/agents-core');
    const state = await RunState.fromString(agent, text);
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    const last = await runner.run(agent, state, { session: open() });
    await open().storeRunUsage(last);
    expect(last.state.usage.totalTokens).toBe(60);
    expect(await session.getTurnUsage()).toEqual({ requests: 2, inputTokens: 50, outputTokens: 10, totalTokens: 60 });
    expect(await session.getSessionUsage()).toEqual({
      requests: 3,
      inputTokens: 60,
      outputTokens: 15,
      totalTokens: 75,
      turns: 2,
    });
    const counted = { promptTokens: 60, cachedTokens: 9, outputTokens: 9, thinkingTokens: 6, totalTokens: 75 };
    for (const owner of [KEY, { appName: KEY.appName, userId: KEY.userId }]) {
      const { total, models } = await sessions.getUsage(owner);
      expect(total).toMatchObject(counted);
      expect(models).toMatchObject([{ model: 'gpt-test' }]);
    }
    // Taking items back costs nothing and gives nothing back.
    await session.applyHistoryMutations({
      mutations: [
        { type: 'replace_function_call', callId: 'c1', replacement: { ...called('c1', { other: 1 }), name: 'lookup' } },
      ],
    });
    await session.popItem();
    expect((await sessions.getUsage(KEY)).total).toMatchObject(counted);
  });

  it('of a session without runs are none', async () => {
    const { sessions } = openSession();
    const session = new BranchedAgentsSession({ sessions, ...KEY });
    const none = { requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    expect([await session.getTurnUsage(), await session.getTurnUsage(3)]).toEqual([none, none]);
    expect(await session.getSessionUsage()).toEqual({ ...none, turns: 0 });
  });

  it('and a compaction are what the option `compact` makes of a long history', async () => {
    const { sessions } = openSession();
    const spent = { inputTokens: 7, outputTokens: 1, totalTokens: 8, inputTokensDetails: {}, outputTokensDetails: {} };
    const others = new AgentsSession({ sessions, ...KEY });
    const session = new AgentsSession({
      sessions,
      ...KEY,
      compact: async ({ items, force }) => {
        if (items.length < 3 && !force) return undefined;
        await others.addItems([said('meanwhile')]);
        return { items: [{ type: 'compaction', encrypted_content: `${items.length}` }], usage: spent };
      },
    });
    const model = new ScriptedModel(
      ['One', 'Two', 'Three'].map((text) => modelResponse({ output: [assistantMessage(text)], usage: usage(10) })),
    );
    const agent = new Agent({ name: 'support', model });
    await runner.run(agent, '1', { session });
    expect(await session.getItems()).toHaveLength(2);
    const second = await runner.run(agent, '2', { session });
    expect(await session.getItems()).toEqual([{ type: 'compaction', encrypted_content: '4' }, said('meanwhile')]);
    expect(second.state.usage.totalTokens).toBe(15 + 8);
    await runner.run(agent, '3', { session });
    expect(model.lastCall?.request.input).toMatchObject([{ type: 'compaction' }, { role: 'user' }, { content: '3' }]);
  });
});
