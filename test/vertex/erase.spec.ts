import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { agendaNameOf } from '../../src/sessions/domain/background/agenda-names.js';
import { ManualClock } from '../../src/testing/index.js';
import { eraseUser, exportSessions, importSessions } from '../../src/transfer/index.js';
import { text } from '../transfer/support.js';
import { ENGINE, storageAt } from './support/open-vertex.js';
import { VertexServer } from './support/vertex-server.js';

const ANN = { appName: 'shop', userId: 'ann' };

describe('Erasing a user in Vertex AI', () => {
  let clock: ManualClock;
  let server: VertexServer;
  let storage: ReturnType<typeof storageAt>;
  let sessions: SessionService;

  beforeEach(async () => {
    clock = new ManualClock();
    server = await VertexServer.start({ clock, maxPage: 3 });
    storage = storageAt(server, { clock });
    sessions = new SessionService({ storage, clock });
  });

  afterEach(async () => {
    await storage.close();
    await server.stop();
  });

  async function say(key: { appName: string; userId: string; sessionId: string }): Promise<void> {
    const session = await sessions.createSession(key);
    await sessions.appendEvent({ session, event: { author: 'user', content: text(`secret of ${key.userId}`) } });
  }

  function left(): string[] {
    return server.sessions.map(({ name, userId }) => `${userId} ${name.slice(name.lastIndexOf('/') + 1)}`).toSorted();
  }

  it('removes all sessions of the user and the app, and no others', async () => {
    for (let number = 1; number <= 8; number++) await say({ ...ANN, sessionId: `s-${number}` });
    await say({ appName: 'shop', userId: 'bob', sessionId: 'of-bob' });
    await say({ appName: 'shop', userId: 'ann"', sessionId: 'of-another' });
    await say({ appName: 'bank', userId: 'ann', sessionId: 'at-the-bank' });
    // Interrupted, so that nobody sees it.
    server.faults.push({ on: /:appendEvent/, status: 403 });
    const fork = sessions.forkSession({ ...ANN, sessionId: 's-1', newSessionId: 'fork' });
    await expect(fork).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await importExpiring('brief');
    clock.advanceSeconds(2 * 3_600);
    expect(await sessions.getSession({ ...ANN, sessionId: 'brief' })).toBeUndefined();
    expect(left()).toEqual(expect.arrayContaining(['ann fork', 'ann brief']));

    expect(await sessions.eraseUser(ANN)).toEqual({ sessions: 10 });
    expect(left()).toEqual(['ann at-the-bank', 'ann" of-another', 'bob of-bob']);
    expect(await sessions.getSession({ ...ANN, sessionId: 's-1' })).toBeUndefined();
    expect(await sessions.eraseUser(ANN)).toEqual({ sessions: 0 });

    expect(await eraseUser(storage, { appName: ENGINE, userId: 'ann' })).toEqual({ sessions: 0 });
    expect(left()).toEqual(['ann at-the-bank', 'ann" of-another', 'bob of-bob']);
    await say({ appName: ENGINE, userId: 'ann', sessionId: 'in-the-engine' });
    expect(await eraseUser(storage, { appName: ENGINE, userId: 'ann' })).toEqual({ sessions: 1 });
    expect(left()).toEqual(['ann at-the-bank', 'ann" of-another', 'bob of-bob']);
  });

  async function importExpiring(sessionId: string): Promise<void> {
    const memory = new InMemorySessionStorage({ clock });
    const brief = new SessionService({ storage: memory, clock, ttl: { enabled: true, sessionSeconds: 3_600 } });
    await brief.createSession({ ...ANN, sessionId });
    await importSessions(storage, exportSessions(memory));
    await memory.close();
  }

  it('forgets what waits in this process', async () => {
    for (const userId of ['ann', 'bob']) {
      const key = { appName: 'shop', userId, sessionId: `of-${userId}` };
      await say(key);
      await storage.agenda.put(agendaNameOf(key), 0);
    }
    await sessions.eraseUser(ANN);
    const due = await storage.agenda.due(10);
    expect(due).toHaveLength(1);
    expect(due[0]?.name).toContain('bob');
  });

  it('goes on where it failed', async () => {
    for (let number = 1; number <= 5; number++) await say({ ...ANN, sessionId: `s-${number}` });
    server.faults.push({ on: /^DELETE/, passes: 2, status: 403 });
    await expect(sessions.eraseUser(ANN)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(left()).toHaveLength(3);
    expect(await sessions.eraseUser(ANN)).toEqual({ sessions: 3 });
    expect(left()).toEqual([]);
  });

  it('a deletion whose answer was lost is repeated', async () => {
    await say({ ...ANN, sessionId: 's-1' });
    server.faults.push({ on: /^DELETE/, after: 'drop' });
    expect(await sessions.eraseUser(ANN)).toEqual({ sessions: 1 });
    expect(left()).toEqual([]);
  });
});
