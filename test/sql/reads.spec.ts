import { SessionService, encryptedStorage, readsOf } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import type { SessionReads } from '../../src/sessions/session-reads.js';
import { ManualClock } from '../../src/testing/index.js';
import { exportSessions } from '../../src/transfer/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { REPLICATIONS, type Replication } from '../support/replications.js';
import { chosenStoreNames } from '../support/store-names.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };
const SESSION = { ...USER, id: 's-1' };
const MAX_LAG_MS = 5_000;

const says = (text: string, more: object = {}): object => ({
  author: 'agent',
  content: { role: 'model', parts: [{ text }] },
  actions: { stateDelta: { last: text } },
  ...more,
});

const seqs = ({ events }: { readonly events: readonly { readonly seq: number }[] }): number[] =>
  events.map(({ seq }) => seq);

type Read = (sessions: SessionService) => Promise<unknown>;

/** Each read that may be old, on the session of the tests. */
const READS = {
  listApps: (sessions) => readsOf(sessions).listApps(),
  listSessions: (sessions) => readsOf(sessions).listSessions(USER),
  listEvents: (sessions) => readsOf(sessions).listEvents(KEY),
  explainView: (sessions) => readsOf(sessions).explainView(KEY),
  getModelRequest: (sessions) => readsOf(sessions).getModelRequest({ ...KEY, seq: 2 }),
  stateAt: (sessions) => readsOf(sessions).stateAt({ ...KEY, seq: 2 }),
  stateChanges: (sessions) => readsOf(sessions).stateChanges(KEY),
  getUsage: (sessions) => readsOf(sessions).getUsage(USER),
  searchEvents: (sessions) => new SessionSearch({ sessions }).searchEvents({ ...USER, text: 'refund' }),
  eventsAround: (sessions) => new SessionSearch({ sessions }).eventsAround({ ...KEY, seq: 2 }),
  async exportSessions(sessions) {
    const lines: string[] = [];
    for await (const line of exportSessions(sessions, { components: [] })) lines.push(line);
    // The first line has the time of the export, and the last one its digest.
    return lines.slice(1, -1);
  },
} satisfies Record<keyof SessionReads | 'searchEvents' | 'eventsAround' | 'exportSessions', Read>;

/** Those that tell something that a write cannot change. */
const ALWAYS_SAME: ReadonlySet<string> = new Set(['getModelRequest', 'stateAt']);

for (const { name, start } of REPLICATIONS.filter((kind) => chosenStoreNames().includes(kind.name))) {
  describe(`Reads of a ${name} store with a replica`, () => describeReads(start));
}
if (!REPLICATIONS.some((kind) => chosenStoreNames().includes(kind.name))) {
  it('is not selected by STORES', () => expect(chosenStoreNames()).not.toContain('postgres'));
}

function describeReads(start: () => Promise<Replication>): void {
  let replication: Replication;
  let clock: ManualClock;
  let opened: SessionService[];
  let warnings: string[];
  /** Another process, which knows nothing of the replica. */
  let other: SessionService;

  beforeAll(async () => {
    replication = await start();
  });

  afterAll(() => replication?.stop());

  beforeEach(async () => {
    clock = new ManualClock();
    [opened, warnings] = [[], []];
    other = service(new TypeOrmSessionStorage({ url: replication.url, clock }));
    for (const user of ['ann', 'bob']) await other.eraseUser({ appName: 'shop', userId: user, reason: 'test' });
    await other.createSession(KEY);
    await other.appendEvents({
      session: SESSION,
      events: [
        { author: 'user', content: { role: 'user', parts: [{ text: 'refund' }] } },
        says('refund of one', { usageMetadata: { totalTokenCount: 3 }, modelRequest: { given: [[1, 1]] } }),
      ] as never,
    });
  });

  afterEach(async () => {
    await replication.resume();
    await Promise.all(opened.map((sessions) => sessions.close()));
  });

  function service(storage: ConstructorParameters<typeof SessionService>[0]['storage']): SessionService {
    const sessions = new SessionService({ storage });
    opened.push(sessions);
    return sessions;
  }

  function storageWithReplica(): TypeOrmSessionStorage {
    const reads = {
      url: replication.replicaUrl,
      maxLagMs: MAX_LAG_MS,
      onWarning: (message: string) => void warnings.push(message),
    };
    return new TypeOrmSessionStorage({ url: replication.url, clock, reads });
  }

  /** Waits until the replica has what was written, and is known to. */
  async function followed({ replica }: TypeOrmSessionStorage): Promise<void> {
    await until(async () => {
      clock.advance(1);
      await replica?.look();
      return replica?.isUsable(USER) === true;
    }, 'The replica does not follow');
  }

  async function opening(): Promise<{ storage: TypeOrmSessionStorage; sessions: SessionService }> {
    const storage = storageWithReplica();
    const sessions = service(storage);
    await storage.open();
    await followed(storage);
    return { storage, sessions };
  }

  async function tripsOf(
    work: () => Promise<unknown>,
  ): Promise<{ readonly primary: number; readonly replica: number }> {
    const before = replication.trips();
    await work();
    const { primary, replica } = replication.trips();
    return { primary: primary - before.primary, replica: replica - before.replica };
  }

  it('are answered by the replica alone: lists, logs, explanations, state, usage, search and export', async () => {
    const indexing = new SessionSearch({ sessions: other });
    await indexing.start();
    await until(async () => (await indexing.searchEvents({ ...USER, text: 'refund' })).hits.length === 2);
    await indexing.stop();
    const { sessions } = await opening();
    const before = new Map<string, unknown>();
    for (const [read, ask] of Object.entries(READS)) before.set(read, await ask(sessions));
    await replication.pause();
    await other.appendEvent({
      session: SESSION,
      event: says('refund again', { usageMetadata: { totalTokenCount: 4 } }),
    });
    await other.createSession({ appName: `app ${Math.random()}`, userId: 'ann' });
    for (const [read, ask] of Object.entries(READS)) {
      const trips = await tripsOf(async () => expect([read, await ask(sessions)]).toEqual([read, before.get(read)]));
      expect([read, trips]).toEqual([read, { primary: 0, replica: expect.any(Number) as number }]);
      expect([read, trips.replica > 0]).toEqual([read, true]);
      const isSame = JSON.stringify(await ask(other)) === JSON.stringify(before.get(read));
      if (read !== 'searchEvents' && read !== 'eventsAround')
        expect([read, isSame]).toEqual([read, ALWAYS_SAME.has(read)]);
    }
  });

  it('are no reads before a write, no writes and no methods of the service', async () => {
    const { storage, sessions } = await opening();
    const trips = await tripsOf(async () => {
      const session = await sessions.getSession(KEY);
      if (session) await sessions.appendEvent({ session, event: says('more') });
      await sessions.change(KEY, ({ state }) => {
        state.set('paid', true);
      });
      await sessions.withTurn({ ...KEY, ttlMs: 60_000 }, async () => undefined);
      await sessions.updateUserState({ ...USER, stateDelta: { theme: 'dark' } });
      await sessions.getUserState(USER);
      await sessions.checkBudget(KEY);
      await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
      await sessions.rewindSession({ ...KEY, toSeq: 1 });
      await sessions.listEvents(KEY);
      await sessions.listSessions(USER);
      await storage.leases.acquire({ name: 'job', holder: 'a', ttlMs: 1_000 });
      await sessions.deleteSession(KEY);
    });
    expect(trips).toEqual({ primary: expect.any(Number) as number, replica: 0 });
  });

  it('have the event that the caller has seen, from the primary if the replica lacks it', async () => {
    const { sessions } = await opening();
    await replication.pause();
    await other.appendEvent({ session: SESSION, event: says('third') });
    const reads = readsOf(sessions);
    expect(
      await tripsOf(async () => expect(seqs(await reads.listEvents({ ...KEY, minSeq: 2 }))).toEqual([1, 2])),
    ).toMatchObject({ primary: 0 });
    expect(seqs(await reads.listEvents({ ...KEY, minSeq: 3 }))).toEqual([1, 2, 3]);
    expect(seqs(await reads.listEvents({ ...KEY, afterSeq: 2, minSeq: 3 }))).toEqual([3]);
    expect(seqs(await reads.explainView({ ...KEY, minSeq: 3 }))).toEqual([1, 2, 3]);
    expect((await reads.stateAt({ ...KEY, seq: 3 })).state).toMatchObject({ last: 'third' });
    expect((await reads.stateChanges({ ...KEY, minSeq: 3 })).lastSeq).toBe(3);
    expect(await reads.getModelRequest({ ...KEY, seq: 3 })).toBeUndefined();
    // A page goes on where the one before ended, wherever that came from.
    const { nextCursor } = await sessions.listEvents({ ...KEY, limit: 2 });
    await other.appendEvent({ session: SESSION, event: says('fourth') });
    const { nextCursor: after3 } = await sessions.listEvents({ ...KEY, afterSeq: 2, limit: 1 });
    expect(seqs(await reads.listEvents({ ...KEY, cursor: after3 }))).toEqual([4]);
    expect(nextCursor).toBeDefined();
    // What the replica does not have is asked of the primary.
    await other.createSession({ ...USER, sessionId: 'new' });
    expect((await reads.listEvents({ ...USER, sessionId: 'new' })).lastSeq).toBe(0);
    await expect(reads.listEvents({ ...KEY, minSeq: -1 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'minSeq',
    });
  });

  it('have what this process wrote for the user', async () => {
    const { storage, sessions } = await opening();
    await replication.pause();
    const ids = async (userId: string): Promise<string[]> =>
      (await readsOf(sessions).listSessions({ appName: 'shop', userId })).sessions.map(({ id }) => id);
    clock.advance(1);
    await sessions.createSession({ appName: 'shop', userId: 'bob', sessionId: 'of bob' });
    await other.createSession({ ...USER, sessionId: 'of another process' });
    expect(await ids('bob')).toEqual(['of bob']);
    expect(await ids('ann')).toEqual(['s-1']);
    await sessions.appendEvent({ session: SESSION, event: says('mine') });
    expect(seqs(await readsOf(sessions).listEvents(KEY))).toEqual([1, 2, 3]);
    await replication.resume();
    await followed(storage);
    const trips = await tripsOf(async () =>
      expect((await ids('ann')).toSorted()).toEqual(['of another process', 's-1']),
    );
    expect(trips.primary).toBe(0);
  });

  it('go to the primary while the replica is too far behind, which health tells, and one line of the log', async () => {
    const { storage, sessions } = await opening();
    await replication.pause();
    for (let count = 0; count < 4; count++) {
      clock.advance(MAX_LAG_MS / 2);
      await storage.replica?.look();
    }
    await other.appendEvent({ session: SESSION, event: says('third') });
    const trips = await tripsOf(async () => expect(seqs(await readsOf(sessions).listEvents(KEY))).toEqual([1, 2, 3]));
    expect(trips.replica).toBe(0);
    const problem = 'The read replica is not used, and the primary answers all reads: it is more than 5000 ms behind';
    expect(warnings).toEqual([problem]);
    expect(await storage.warnings()).toContain(problem);
    await replication.resume();
    await followed(storage);
    expect(warnings).toEqual([problem, 'The read replica answers reads again.']);
    expect(await storage.warnings()).not.toContain(problem);
  });

  it('go to the primary when the replica is killed in the middle, and come back', async () => {
    const { storage, sessions } = await opening();
    const over = new AbortController();
    const failures: unknown[] = [];
    const reading = Promise.all(
      [1, 2, 3, 4].map(async () => {
        while (!over.signal.aborted)
          await readsOf(sessions)
            .listEvents(KEY)
            .catch((error: unknown) => failures.push(error));
      }),
    );
    await replication.replica.kill();
    await until(() => warnings.length > 0);
    over.abort();
    await reading;
    expect(failures).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('it does not answer')]);
    clock.advance(MAX_LAG_MS);
    expect(await storage.warnings()).toContainEqual(expect.stringContaining('it does not answer'));
    await replication.replica.restart();
    await followed(storage);
    expect(await tripsOf(() => readsOf(sessions).listEvents(KEY))).toMatchObject({ primary: 0 });
  });

  it('are opened with what the replica has, encrypted or not', async () => {
    const storage = storageWithReplica();
    const encryption = { keys: `k:${Buffer.alloc(32, 7).toString('base64')}`, allowPlain: true };
    const sessions = service(encryptedStorage(storage, encryption, clock));
    await sessions.createSession({ ...USER, sessionId: 'sealed' });
    await sessions.appendEvent({ session: { ...USER, id: 'sealed' }, event: says('a secret') });
    await followed(storage);
    const read = async (): Promise<unknown> => readsOf(sessions).listEvents({ ...USER, sessionId: 'sealed' });
    await read();
    const trips = await tripsOf(async () => expect(JSON.stringify(await read())).toContain('a secret'));
    expect(trips).toEqual({ primary: 0, replica: expect.any(Number) as number });
    expect(
      JSON.stringify(await storage.replica?.storage.read({ key: { ...USER, sessionId: 'sealed' }, window: {} })),
    ).not.toContain('a secret');
  });

  it('are those of the primary for a server that does not follow it', async () => {
    const storage = new TypeOrmSessionStorage({
      url: replication.url,
      clock,
      reads: { url: replication.replicaUrl, maxLagMs: MAX_LAG_MS, onWarning: (message) => void warnings.push(message) },
    });
    const sessions = service(storage);
    await replication.pause();
    for (let count = 0; count < 3; count++) {
      clock.advance(MAX_LAG_MS);
      await storage.replica?.look();
      expect(await tripsOf(() => readsOf(sessions).listEvents(KEY))).toMatchObject({ replica: 0 });
    }
    expect(warnings).toHaveLength(1);
  });
}
