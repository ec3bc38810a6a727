import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SessionTaskStore } from '../../../src/adapters/a2a/index.js';
import { ChatSessions } from '../../../src/adapters/ai-sdk/index.js';
import { SessionEventStore } from '../../../src/adapters/mcp/index.js';
import { AgentSessions } from '../../../src/agents/index.js';
import { InMemorySessionService } from '../../../src/index.js';
import { callOf, listOf, message, taskOf } from '../a2a/support/tasks.js';

const BOOTSTRAP = join(__dirname, '../../support/processes/bootstrap.cjs');
const ATTACK = join(__dirname, 'support/reading-attack.ts');
/** Less than what each of the sessions holds. */
const HEAP_MIB = 190;
const MIB = 1_048_576;
const say = (text: string) => ({ jsonrpc: '2.0' as const, method: 'say', params: { text } });

describe('Adapters in a process with little memory', () => {
  it('read sessions of 120 events of 0.9 MB', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      `--max-old-space-size=${HEAP_MIB}`,
      BOOTSTRAP,
      ATTACK,
    ]);
    const { chat, tasks, replay } = JSON.parse(stdout) as Record<string, number>;
    for (const size of [chat, tasks]) {
      expect(size).toBeGreaterThan(2 * MIB);
      expect(size).toBeLessThan(4 * MIB);
    }
    // A stream has all of it, one page after the other.
    expect(replay).toBeGreaterThan(90 * MIB);
  }, 600_000);
});

describe('What an adapter reads in one call', () => {
  const long = 'x'.repeat(1_000);
  const sessions = new InMemorySessionService({ limits: { maxViewBytes: 10_000, maxPageBytes: 5_000 } });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => sessions.close());

  it('of a chat is as large as a view: the newest messages', async () => {
    const agents = new AgentSessions({ sessions });
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    await sessions.createSession(key);
    for (let number = 1; number <= 30; number++) {
      const event = { author: 'user', content: { role: 'user' as const, parts: [{ text: `${number} ${long}` }] } };
      await sessions.appendEvent({ session: { appName: 'shop', userId: 'ann', id: 's' }, event });
    }
    const pages = jest.spyOn(sessions, 'listEvents');
    const messages = await new ChatSessions({ sessions, agents }).load(key);
    const said = messages.map(({ parts: [part] }) => Number(/^\d+/.exec(part && 'text' in part ? part.text : '')?.[0]));
    expect(said.at(-1)).toBe(30);
    expect(said.length).toBeGreaterThan(4);
    expect(said.length).toBeLessThan(10);
    expect(pages.mock.calls.length).toBeLessThanOrEqual(3);
    await agents.close();
  });

  it('of the tasks of A2A is as large as a page, which the next one continues', async () => {
    const tasks = new SessionTaskStore({ sessions, appName: 'tasks' });
    const call = callOf();
    for (let number = 0; number < 12; number++) {
      await tasks.save(taskOf(`t${number}`, { history: [message('m', long)] }), call);
    }
    await tasks.save(taskOf('t-large', { history: [message('m', long), message('n', 'y'.repeat(9_000))] }), call);
    const ids: string[] = [];
    const sizes: number[] = [];
    let pageToken = '';
    do {
      const page = await tasks.list(listOf({ pageSize: 10, pageToken }), call);
      expect(page.totalSize).toBe(13);
      ids.push(...page.tasks.map(({ id }) => id));
      sizes.push(page.tasks.length);
      pageToken = page.nextPageToken;
    } while (pageToken);
    expect(new Set(ids).size).toBe(13);
    expect(ids).toHaveLength(13);
    expect(Math.max(...sizes)).toBeLessThan(5);
    expect(sizes).toContain(1);
  });

  it('of MCP is one event to know a place, and a page after the other to resume', async () => {
    const store = new SessionEventStore({ sessions, appName: 'mcp', userId: 'ann', mcpSessionId: 'm' });
    const first = await store.storeEvent('s', say('first'));
    for (let number = 0; number < 20; number++) await store.storeEvent('s', say(long));
    const pages = jest.spyOn(sessions, 'listEvents');
    await store.getStreamIdForEventId(first);
    expect(pages.mock.calls.map(([{ limit }]) => limit)).toEqual([1]);
    const readBefore: number[] = [];
    await store.replayEventsAfter(first, { send: async () => void readBefore.push(pages.mock.calls.length) });
    expect(readBefore).toHaveLength(20);
    expect(readBefore[0]).toBe(3);
    expect(new Set(readBefore).size).toBeGreaterThan(4);
  });
});
