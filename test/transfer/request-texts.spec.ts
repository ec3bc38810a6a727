import { SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { exportSessions, importSessions, verifySessions } from '../../src/transfer/index.js';
import { testStores } from '../support/stores.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's' };
const PROMPT = 'Sell the blue chair first.';
const ANSWER = { author: 'agent', modelRequest: { given: [], instructions: PROMPT } };

describe.each(testStores)('the prompts of model requests in $name', ({ open }) => {
  const opened: OpenStorage[] = [];

  afterEach(async () => {
    for (const each of opened.splice(0)) await each.destroy();
  });

  async function start(): Promise<{ sessions: SessionService; raw: () => Promise<string> }> {
    const store = await open({});
    opened.push(store);
    const sessions = new SessionService({ storage: store.storage });
    return { sessions, raw: async () => JSON.stringify(await store.raw()) };
  }

  async function withAnswer(sessions: SessionService, userId: string): Promise<void> {
    await sessions.createSession({ ...KEY, userId });
    await sessions.appendEvent({ session: { ...USER, userId, id: 's' }, event: ANSWER });
  }

  const promptOf = async (sessions: SessionService): Promise<unknown> =>
    (await sessions.getModelRequest({ ...KEY, seq: 1 }))?.instructions?.value;

  it('are erased with the user, and those of others are not', async () => {
    const { sessions, raw } = await start();
    await withAnswer(sessions, 'ann');
    await withAnswer(sessions, 'bob');
    expect(await sessions.eraseUser({ ...USER, userId: 'bob' })).toEqual({ sessions: 1 });
    expect(await promptOf(sessions)).toBe(PROMPT);
    expect(await sessions.eraseUser(USER)).toEqual({ sessions: 1 });
    expect(await raw()).not.toContain('chair');
    await sessions.finish();
  });

  it.each([{}, USER, KEY])('are exported and imported with the session, by the filter %j', async (filter) => {
    const [from, to] = [await start(), await start()];
    await withAnswer(from.sessions, 'ann');
    const lines: string[] = [];
    for await (const line of exportSessions(from.sessions, { filter })) lines.push(line);
    await importSessions(to.sessions, lines);
    expect(await promptOf(to.sessions)).toBe(PROMPT);
    expect((await verifySessions(to.sessions, lines)).isEqual).toBe(true);
    await from.sessions.finish();
    await to.sessions.finish();
  });
});
