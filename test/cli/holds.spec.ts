import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemorySessionService, SessionHeldError, SessionRetention, SessionService } from '../../src/index.js';
import { eraseUser, exportSessions } from '../../src/transfer/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { sessionsOf, whileShown } from './shown-page.js';
import { cli } from './terminal.js';

const ANN = { appName: 'shop', userId: 'ann' };
const HOLD = { hold: { labels: { hold: 'case-7' } } };

describe('A hold on the command line', () => {
  let folder: string;
  let url: string;
  let policy: string;
  let sessions: SessionService;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-holds-'));
    const database = join(folder, 'sessions.db');
    url = `sqlite:${database}`;
    policy = join(folder, 'policy.json');
    await writeFile(policy, JSON.stringify({ rules: [{ keep: '2y' }], ...HOLD }));
    sessions = new SessionService({ storage: new TypeOrmSessionStorage({ database }) });
    await sessions.createSession({ ...ANN, sessionId: 'held', metadata: { labels: { hold: 'case-7' } } });
    await sessions.createSession({ ...ANN, sessionId: 'free' });
  });
  afterEach(async () => {
    await sessions.close();
    await rm(folder, { recursive: true });
  });

  const left = async (): Promise<string[]> =>
    (await sessions.listSessions(ANN)).sessions.map(({ id }) => id).toSorted();
  const erase = (...more: string[]) => cli(['erase-user', 'shop', 'ann', '--yes', 'ann', '--url', url, ...more]);

  it('refuses to erase the user, until the label is taken away', async () => {
    const refused = await erase('--policy', policy, '--json');
    expect(refused).toMatchObject({ code: 5, out: '' });
    expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'SESSION_HELD' } });
    expect(await left()).toEqual(['free', 'held']);
    const actions = { metadataDelta: { labels: { hold: null } } };
    await sessions.appendEvent({ session: { ...ANN, id: 'held' }, event: { author: 'system', actions } });
    expect(await erase('--policy', policy)).toMatchObject({ code: 0, out: 'erased 2 sessions of ann\n' });
    expect(await left()).toEqual([]);
  });

  it('keeps a session from the page of inspect, which deletes the others', async () => {
    await whileShown(['--url', url, '--write', '--policy', policy], async (page) => {
      const remove = (id: string) => fetch(`${sessionsOf(page)}/${id}`, { method: 'DELETE' });
      const refused = await remove('held');
      expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'SESSION_HELD' }]);
      expect((await remove('free')).status).toBe(204);
    });
    expect(await left()).toEqual(['held']);
  });

  it('is kept by the store, so that commands without the policy refuse, too', async () => {
    const copy = join(folder, 'copy.ndjson');
    const other = new InMemorySessionService();
    await other.createSession({ ...ANN, sessionId: 'held' });
    await writeFile(copy, exportSessions(other));
    await other.close();
    const retention = new SessionRetention({ sessions, rules: [], ...HOLD });
    retention.start();
    await sessions.whenIdle();
    const replace = () => cli(['import', copy, '--replace', '--url', url, '--json']);
    for (const refused of [await erase('--json'), await replace()]) {
      expect(refused.code).toBe(5);
      expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'SESSION_HELD' } });
    }
    expect(await left()).toEqual(['free', 'held']);
    await retention.release();
    expect((await replace()).code).toBe(0);
    expect((await erase()).code).toBe(0);
  });

  it('has to be one, and to have an effect', async () => {
    await writeFile(policy, JSON.stringify({ rules: [{ keep: '2y' }] }));
    expect(await erase('--policy', policy)).toMatchObject({ code: 2, err: expect.stringContaining('no hold') });
    await writeFile(policy, JSON.stringify({ rules: [], hold: 'case-7' }));
    expect(await erase('--policy', policy)).toMatchObject({ code: 2, err: expect.stringContaining('hold?') });
    await writeFile(policy, '{ hold }');
    expect(await erase('--policy', policy)).toMatchObject({ code: 2, err: expect.stringContaining('not JSON') });
    expect(await erase('--policy', join(folder, 'none.json'))).toMatchObject({ code: 2 });
    expect(await cli(['inspect', '--url', url, '--policy', policy])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--write'),
    });
    expect(await left()).toEqual(['free', 'held']);
  });

  it('counts for eraseUser of the transfer, too, if it gets the service', async () => {
    new SessionRetention({ sessions, rules: [], ...HOLD }).start();
    await expect(eraseUser(sessions, ANN)).rejects.toBeInstanceOf(SessionHeldError);
    expect(await left()).toEqual(['free', 'held']);
  });
});
