import { type EventInput, SessionService } from '../../src/index.js';
import { fillSqlLog } from '../support/filled-sql.js';
import { updatesOfRecords } from '../support/record-lines.js';
import { type SqlBench, describeSqlServers } from '../support/sql-bench.js';
import type { RawConnection } from '../support/sql-servers.js';
import { countTrips } from '../support/round-trips.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const LENGTHS = [100, 10_000];
const USED = { usageMetadata: { promptTokenCount: 310, candidatesTokenCount: 120 } };

/** Round trips of an operation, including its transaction. Appends go to sessions that no other process writes to, unless it is said. */
const EXPECTED: Record<string, readonly [mariadb: number, postgres: number]> = {
  'create a session': [1, 1],
  'create a session with state and metadata': [1, 1],
  'create a session with state of user and app': [4, 4],
  'create a session whose id is taken': [4, 3],
  'append an event': [1, 1],
  'append with state of the session': [1, 1],
  'append with state of user and app': [1, 1],
  'append with usage and state of user and app': [1, 1],
  'append the same event again': [5, 4],
  'append ten events with state of the session': [1, 1],
  'append ten events with state of user and app': [1, 1],
  'append the same ten events again': [5, 4],
  'append to 64 sessions at once': [1, 1],
  'append to 64 sessions at once, with usage and state of user and app': [1, 1],
  'append to a session that another process wrote to': [3, 2],
  'append to it again': [1, 1],
  'read the session with its last 20 events': [2, 1],
  'read the session with its last 1,000 events': [2, 1],
  'read the last 5 events since a time': [2, 2],
  'read a page of the log': [2, 2],
  'list the sessions of the user': [2, 2],
  'list the sessions of the user, with more in one minute than the page has': [3, 3],
  'read user state': [2, 2],
  'write app state': [3, 3],
  // Afterwards, it looks whether the session is gone, and for its prompts.
  'delete a session': [6, 5],
};

describeSqlServers('Round trips to a $name store', (bench) => {
  it(`do not depend on the length of the log (${LENGTHS.join(' and ')} events)`, async () => {
    const { proxy, behind } = await bench().proxy();
    const raw = await bench().connect();
    const sessions = bench().sessions(behind);
    await sessions.createSession({ ...KEY, state: { 'user:k': 0, 'app:k': 0 } });
    const counts = [];
    for (const length of LENGTHS) {
      const { version = 0 } = (await sessions.getSession({ ...KEY, config: { numRecentEvents: 0 } })) ?? {};
      await fillSqlLog(raw, length - version, (seq) => ({ author: seq % 10 ? 'agent' : 'user' }));
      const others = await createOthers(sessions, length);
      await appendUntilTrusted(sessions);
      const elsewhere = bench().sessions();
      const counted: Record<string, number> = {};
      for (const [name, run] of Object.entries(operations({ sessions, elsewhere, length, others, raw }))) {
        const trips = countTrips(proxy);
        await run();
        counted[name] = trips();
      }
      counts.push(counted);
    }
    const place = bench().name === 'mariadb' ? 0 : 1;
    const expected = Object.fromEntries(Object.entries(EXPECTED).map(([name, trips]) => [name, trips[place]]));
    expect(counts).toEqual([expected, expected]);
  });

  it('are those of an append to begin, renew or end a turn, and to append in it', async () => {
    const { proxy, behind } = await bench().proxy();
    const sessions = bench().sessions(behind);
    await sessions.createSession(KEY);
    const trips = countTrips(proxy);
    const turn = await sessions.beginTurn(KEY);
    expect(trips()).toBe(1);
    await sessions.appendEvent({ session: SESSION, event: { author: 'agent' }, turn });
    expect(trips()).toBe(1 + 1);
    await sessions.renewTurn(turn);
    expect(trips()).toBe(1 + 1 + 1);
    await sessions.appendEvent({ session: SESSION, event: { author: 'agent' }, turn, endTurn: true });
    expect(trips()).toBe(1 + 1 + 1 + 1);
  });

  it('are one to save the partial events of 5 sessions, one to read them, and none more to end them', async () => {
    const { proxy, behind } = await bench().proxy();
    const storage = bench().storage(behind);
    const sessions = new SessionService({ storage });
    const writes = [];
    for (let index = 0; index < 5; index++) {
      const key = { ...KEY, sessionId: `s-${index}` };
      await sessions.createSession(key);
      const { token: turnToken } = await sessions.beginTurn(key);
      const { incarnation = '' } = (await storage.read({ key }))?.record ?? {};
      writes.push({ key, incarnation, turnToken, index: 1, messageId: 'm', content: '{}', ttlMs: 60_000 });
    }
    const [first] = writes;
    if (!first) throw new Error('There is no session');
    const trips = countTrips(proxy);
    const outcomes = await Promise.all(writes.map((write) => storage.savePartial(write)));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['saved']));
    expect(trips()).toBe(1);
    const { key, incarnation, turnToken } = first;
    const read = async () => (await storage.tails([{ key, incarnation, afterSeq: 0, limit: 0, afterPartial: 0 }]))[0];
    expect((await read())?.partials).toHaveLength(1);
    expect(trips()).toBe(1 + 1);
    // What watches of all of them read.
    const logs = writes.map((write) => ({ ...write, withLastPartial: true, afterSeq: 0, limit: 0 }));
    expect(await storage.tails(logs)).toHaveLength(5);
    expect(await storage.tails(logs.map((log) => ({ ...log, afterPartial: 0, limit: 4 })))).toHaveLength(5);
    expect(trips()).toBe(1 + 1 + 2);
    const session = { ...key, id: key.sessionId };
    await sessions.appendEvents({ session, events: [{ author: 'agent' }], turn: turnToken, endPartials: ['m'] });
    expect(trips()).toBe(1 + 1 + 2 + 1);
    expect((await read())?.partials).toEqual([]);
  });

  it('are two to write entries, and one to read them', async () => {
    const { proxy, behind } = await bench().proxy();
    const { entries } = bench().storage(behind);
    const places = ['a', 'b'].map((name) => ({ space: 'jobs', name }));
    const next = { stamp: 1, rank: 0, since: 0, text: '', ttlMs: 60_000 };
    await entries.find(places);
    const trips = countTrips(proxy);
    const written = await entries.write(places.map((place) => ({ ...place, expected: undefined, next })));
    expect(written.kind).toBe('written');
    expect(trips()).toBe(2);
    const changed = await entries.write(places.map((place) => ({ ...place, expected: 1, next: undefined })));
    expect(changed.kind).toBe('written');
    expect(trips()).toBe(2 + 2);
    await entries.find(places);
    await entries.range({ space: 'jobs', upTo: 'now', limit: 10 });
    await entries.count('jobs');
    expect(trips()).toBe(2 + 2 + 1 + 1 + 1);
  });

  it('of the agenda are those of a write, or of a read', async () => {
    const { proxy, behind } = await bench().proxy();
    const { agenda } = bench().storage(behind);
    await agenda.put('job', 0);
    const trips = countTrips(proxy);
    await agenda.put('job', 1_000);
    expect(trips()).toBe(2);
    await agenda.remove({ name: 'job', dueAt: 0 });
    expect(trips()).toBe(2 + 1);
    await agenda.put('due', 0);
    const due = await agenda.due(1_000);
    expect(trips()).toBe(2 + 1 + 2 + 1);
    for (const entry of due) await agenda.remove(entry);
    expect(trips()).toBe(2 + 1 + 2 + 1 + 2 * due.length);
  });

  it('increase on a connection that sends statements one by one', async () => {
    const { proxy, behind } = await bench().proxy();
    const sessions = bench().sessions({ ...behind, driverOptions: oneByOne(bench()) });
    await sessions.createSession(KEY);
    const trips = countTrips(proxy);
    await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
    expect(trips()).toBe(bench().name === 'mariadb' ? 7 : 1);
  });
});

function oneByOne({ name }: SqlBench): Record<string, unknown> {
  return name === 'mariadb' ? { multipleStatements: false } : { pipeline: false };
}

async function createOthers(sessions: SessionService, length: number): Promise<string[]> {
  const ids = Array.from({ length: 64 }, (_, index) => `${length}-${index}`);
  for (const sessionId of ids) await sessions.createSession({ ...KEY, sessionId });
  return ids;
}

/** The store trusts that it is the only writer of a session after two appends, and knows the scopes. */
async function appendUntilTrusted(sessions: SessionService): Promise<void> {
  const event = { author: 'user', actions: { stateDelta: { 'user:k': 0, 'app:k': 0 } } };
  for (let number = 0; number < 2; number++) await sessions.appendEvent({ session: SESSION, event });
}

interface Situation {
  readonly sessions: SessionService;
  /** Of another process, without the proxy. */
  readonly elsewhere: SessionService;
  readonly length: number;
  readonly others: readonly string[];
  /** Without the proxy. */
  readonly raw: RawConnection;
}

function operations({ sessions, elsewhere, length, others, raw }: Situation): Record<string, () => Promise<unknown>> {
  const list = (): Promise<unknown> => sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 10 });
  const append =
    (kind: string, stateDelta: Record<string, unknown>, more: EventInput = {}) =>
    () =>
      sessions.appendEvent({
        session: SESSION,
        event: { id: `${kind}-${length}`, author: 'user', actions: { stateDelta }, ...more },
      });
  const appendTen = (kind: string, keys: readonly string[]) => () =>
    sessions.appendEvents({
      session: SESSION,
      events: Array.from({ length: 10 }, (_, index) => ({
        id: `${kind}-${length}-${index}`,
        author: 'user',
        actions: { stateDelta: Object.fromEntries(keys.map((key) => [key, index])) },
      })),
    });
  const appendToAll = (event: EventInput) => () =>
    Promise.all(
      others.map((id) => sessions.appendEvent({ session: { ...SESSION, id }, event: { author: 'user', ...event } })),
    );
  return {
    'create a session': () => sessions.createSession({ ...KEY, sessionId: `new-${length}` }),
    'create a session with state and metadata': () =>
      sessions.createSession({
        ...KEY,
        sessionId: `new-${length}-own`,
        state: { k: 1 },
        metadata: { status: 'open', tags: ['a', 'b'] },
      }),
    'create a session with state of user and app': () =>
      sessions.createSession({ ...KEY, sessionId: `new-${length}-shared`, state: { k: 1, 'user:k': 1, 'app:k': 1 } }),
    'create a session whose id is taken': () => sessions.createSession(KEY).catch(() => undefined),
    'append an event': append('plain', {}),
    'append with state of the session': append('own', { k: length }),
    'append with state of user and app': append('shared', { 'user:k': length, 'app:k': length }),
    'append with usage and state of user and app': append('used', { 'user:k': 1, 'app:k': 1 }, USED),
    'append the same event again': append('plain', {}),
    'append ten events with state of the session': appendTen('ten', ['k']),
    'append ten events with state of user and app': appendTen('ten-shared', ['user:k', 'app:k']),
    'append the same ten events again': appendTen('ten', ['k']),
    'append to 64 sessions at once': appendToAll({}),
    'append to 64 sessions at once, with usage and state of user and app': appendToAll({
      ...USED,
      actions: { stateDelta: { 'user:k': 1, 'app:k': 1 } },
    }),
    'append to a session that another process wrote to': async () => {
      await elsewhere.appendEvent({ session: SESSION, event: { author: 'user' } });
      await append('after-other', {})();
    },
    'append to it again': append('after-other-2', {}),
    'read the session with its last 20 events': () => sessions.getSession({ ...KEY, config: { numRecentEvents: 20 } }),
    'read the session with its last 1,000 events': () =>
      sessions.getSession({ ...KEY, config: { numRecentEvents: 1_000 } }),
    'read the last 5 events since a time': () =>
      sessions.getSession({ ...KEY, config: { numRecentEvents: 5, afterTimestamp: 1 } }),
    'read a page of the log': () => sessions.listEvents({ ...KEY, afterSeq: 50, limit: 20 }),
    'list the sessions of the user, with more in one minute than the page has': list,
    'list the sessions of the user': async () => {
      for (const row of await raw.query('SELECT pk, record FROM agent_sessions')) {
        for (const statement of updatesOfRecords([row], { updated: Number(row.pk) * 60_000 }))
          await raw.query(statement);
      }
      await raw.query('UPDATE agent_sessions SET update_minute = pk');
      await list();
    },
    'read user state': () => sessions.getUserState(KEY),
    'write app state': () => sessions.updateAppState({ ...KEY, stateDelta: { k: 1 } }),
    'delete a session': () => sessions.deleteSession({ ...KEY, sessionId: `new-${length}` }),
  };
}
