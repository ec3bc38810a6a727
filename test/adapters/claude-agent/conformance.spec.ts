import { type SessionStoreEntry, type SessionSummaryEntry, foldSessionSummary } from '@anthropic-ai/claude-agent-sdk';
import { ClaudeSessionStore } from '../../../src/adapters/claude-agent/index.js';
import { SessionService } from '../../../src/index.js';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import { describeSuite } from '../support/describe-suite.js';

/** The cases that the SDK's repositories publish for stores, as behaviours: 13 of TypeScript, and the one that only Python has. */
const SUITE = "behaviours of the SDK's 14 conformance cases for stores";

const MAIN = { projectKey: 'project', sessionId: 'chat' };
const AGENT_A = { ...MAIN, subpath: 'subagents/agent-a' };
const AGENT_B = { ...MAIN, subpath: 'subagents/agent-b' };

function entry(number: number, fields: object = {}): SessionStoreEntry {
  return { type: 'note', number, ...fields };
}

function at(second: number, fields: object = {}): SessionStoreEntry {
  return entry(second, { timestamp: `2026-11-01T00:00:0${second}.000Z`, ...fields });
}

const suite = { framework: 'Claude Agent SDK', peer: '@anthropic-ai/claude-agent-sdk', suite: SUITE };
describeSuite(suite, ({ open }) => {
  let opened: OpenStorage | undefined;
  let store: ClaudeSessionStore;
  const summariesOf = async (projectKey: string): Promise<SessionSummaryEntry[] | undefined> =>
    store.listSessionSummaries?.(projectKey);

  beforeEach(async () => {
    opened = await open({});
    const sessions = new SessionService({ storage: opened.storage });
    store = new ClaudeSessionStore({ sessions, userId: 'ann', foldSessionSummary });
  });
  afterEach(async () => {
    await opened?.destroy();
  });

  it('loads what was appended, in its order', async () => {
    const entries = [entry(2, { uuid: 'b', deep: { list: [1, { two: null }] } }), entry(1, { uuid: 'a' })];
    await store.append(MAIN, entries);
    expect(await store.load(MAIN)).toEqual(entries);
  });

  it('knows nothing of a transcript that was never written', async () => {
    expect(await store.load(MAIN)).toBeNull();
    await store.append(MAIN, [entry(1)]);
    expect(await store.load(AGENT_A)).toBeNull();
  });

  it('keeps the order of appends', async () => {
    await store.append(MAIN, [entry(4)]);
    await store.append(MAIN, [entry(1), entry(3)]);
    await store.append(MAIN, [entry(2)]);
    expect(await store.load(MAIN)).toEqual([entry(4), entry(1), entry(3), entry(2)]);
  });

  it('writes nothing for an empty append', async () => {
    await store.append(MAIN, []);
    expect(await store.load(MAIN)).toBeNull();
    await store.append(MAIN, [entry(1)]);
    await store.append(MAIN, []);
    expect(await store.load(MAIN)).toEqual([entry(1)]);
  });

  it('keeps transcripts of subagents apart from the main one', async () => {
    await store.append(MAIN, [entry(1)]);
    await store.append(AGENT_A, [entry(2)]);
    expect(await store.load(MAIN)).toEqual([entry(1)]);
    expect(await store.load(AGENT_A)).toEqual([entry(2)]);
  });

  it('keeps projects apart', async () => {
    const other = { ...MAIN, projectKey: 'other' };
    await store.append(MAIN, [entry(1)]);
    await store.append(other, [entry(2)]);
    expect(await store.load(MAIN)).toEqual([entry(1)]);
    expect(await store.load(other)).toEqual([entry(2)]);
    expect(await store.listSessions('other')).toHaveLength(1);
  });

  it('lists the sessions of a project with the time of their last append', async () => {
    await store.append({ ...MAIN, sessionId: 'one' }, [entry(1)]);
    await store.append({ ...MAIN, sessionId: 'two' }, [entry(2)]);
    await store.append({ projectKey: 'other', sessionId: 'three' }, [entry(3)]);
    const listed = await store.listSessions('project');
    expect(listed.map(({ sessionId }) => sessionId).toSorted()).toEqual(['one', 'two']);
    expect(listed.every(({ mtime }) => Number.isInteger(mtime) && mtime > 1e12)).toBe(true);
    expect(await store.listSessions('unknown')).toEqual([]);
  });

  it('lists no transcripts of subagents as sessions', async () => {
    await store.append(AGENT_A, [entry(1)]);
    expect(await store.listSessions('project')).toEqual([]);
    await store.append(MAIN, [entry(2)]);
    expect(await store.listSessions('project')).toHaveLength(1);
  });

  it('deletes a transcript, and does not mind one that is not there', async () => {
    await store.append(MAIN, [entry(1)]);
    await store.delete(MAIN);
    expect(await store.load(MAIN)).toBeNull();
    await store.delete({ projectKey: 'unknown', sessionId: 'never' });
  });

  it('deletes the subagents of a session with it, and nothing else', async () => {
    const [neighbour, namesake] = [
      { ...MAIN, sessionId: 'chat-2' },
      { ...MAIN, projectKey: 'other' },
    ];
    for (const [index, key] of [MAIN, AGENT_A, AGENT_B, neighbour, namesake].entries()) {
      await store.append(key, [entry(index)]);
    }
    await store.delete(MAIN);
    for (const key of [MAIN, AGENT_A, AGENT_B]) expect(await store.load(key)).toBeNull();
    expect(await store.load(neighbour)).toEqual([entry(3)]);
    expect(await store.load(namesake)).toEqual([entry(4)]);
    expect(await store.listSubkeys(MAIN)).toEqual([]);
    expect(await store.listSessions('project')).toHaveLength(1);
  });

  it('deletes a subagent alone', async () => {
    for (const [index, key] of [MAIN, AGENT_A, AGENT_B].entries()) await store.append(key, [entry(index)]);
    await store.delete(AGENT_A);
    expect(await store.load(AGENT_A)).toBeNull();
    expect(await store.load(MAIN)).toEqual([entry(0)]);
    expect(await store.load(AGENT_B)).toEqual([entry(2)]);
    expect(await store.listSubkeys(MAIN)).toEqual([AGENT_B.subpath]);
  });

  it('lists the subagents of a session', async () => {
    await store.append(AGENT_A, [entry(1)]);
    await store.append(AGENT_B, [entry(2)]);
    await store.append({ ...AGENT_A, sessionId: 'chat-2', subpath: 'subagents/agent-c' }, [entry(3)]);
    expect((await store.listSubkeys(MAIN)).toSorted()).toEqual([AGENT_A.subpath, AGENT_B.subpath]);
  });

  it('lists no main transcript as a subagent', async () => {
    await store.append(MAIN, [entry(1)]);
    expect(await store.listSubkeys(MAIN)).toEqual([]);
    expect(await store.listSubkeys({ projectKey: 'unknown', sessionId: 'never' })).toEqual([]);
  });

  it('keeps summaries that can be continued, by the clock of the list', async () => {
    await store.append(MAIN, [at(0, { customTitle: 'first' }), at(1)]);
    await store.append(MAIN, [at(2, { customTitle: 'second' })]);
    await store.append({ ...MAIN, projectKey: 'other' }, [at(0)]);
    const [summary, ...others] = (await summariesOf('project')) ?? [];
    if (!summary) throw new Error('There is a summary');
    expect(others).toEqual([]);
    expect(summary).toMatchObject({ sessionId: 'chat', data: { customTitle: 'second' } });
    expect(summary.mtime).toBe((await store.listSessions('project'))[0]?.mtime);
    expect(foldSessionSummary(summary, MAIN, [at(3)])).toEqual(summary);
    await store.append(AGENT_A, [at(9, { customTitle: 'of a subagent' })]);
    expect(await summariesOf('project')).toEqual([summary]);
    expect(await summariesOf('unknown')).toEqual([]);
    await store.delete(MAIN);
    expect(await summariesOf('project')).toEqual([]);
  });
});
