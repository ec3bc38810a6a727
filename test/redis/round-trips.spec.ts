import { DEFAULT_TTL } from '../../src/config/session-settings.js';
import { SessionService } from '../../src/index.js';
import { lifetimesOf } from '../../src/sessions/domain/values/expiry.js';
import type {
  Agenda,
  AgendaEntry,
  ConsumerStore,
  EntryStore,
  Lease,
  LeaseStore,
  WorkEntry,
} from '../../src/storage.js';
import { describeRedis } from '../support/redis-servers.js';
import { observedRedis } from '../support/observed-redis.js';
import { NO_COUNTS } from '../../src/sessions/domain/stored/counters.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const LENGTHS = [100, 10_000];
const BATCH = 500;
const FILTER = { status: 'open', tags: ['vip'] };

/** Round trips of each operation on one node and on a cluster. */
const EXPECTED: Record<string, readonly [node: number, cluster: number]> = {
  'create a session': [1, 4],
  'append an event': [1, 1],
  'append with session and user state': [1, 1],
  'append with app state': [1, 4],
  'append the same event again': [2, 2],
  'append ten events with session and user state': [1, 1],
  'append ten events with app state': [1, 4],
  'append the same ten events again': [2, 2],
  'read the session with its last 20 events': [1, 2],
  'read the session since a time': [1, 2],
  'read a page of the log': [1, 1],
  'list the sessions of the user': [1, 2],
  'list the sessions of the app': [1, 4],
  'list the sessions of the user by status and tag': [1, 2],
  'list the sessions of the app by status and tag': [1, 4],
  'read user state': [1, 1],
  'write app state': [1, 1],
  // Afterwards, it looks whether the session is gone, and for its prompts.
  'delete a session, not the last one': [4, 4],
  'acquire a lease': [2, 2],
  'fail to acquire a lease': [1, 1],
  'renew a lease': [2, 2],
  'release a lease': [1, 1],
  'acquire a lease that this process released': [1, 1],
  'add an agenda entry': [1, 1],
  'read due agenda entries': [1, 1],
  'remove an agenda entry': [1, 1],
  'find no work to claim': [1, 1],
  'add work of a session': [1, 1],
  'claim work': [2, 2],
  'save progress': [1, 1],
  'finish work': [1, 1],
  'read the lag of a consumer': [1, 1],
  'write entries': [1, 1],
  'find entries': [1, 1],
  'read a page of entries': [1, 1],
  'count entries': [1, 1],
};

describeRedis('Round trips to a $name store', ['redis', 'redis-cluster'], (bench) => {
  it(`are the same after ${LENGTHS.join(' events as after ')}`, async () => {
    let trips = 0;
    const client = observedRedis(bench().client(), { beforeScript: () => trips++ });
    const storage = bench().storage({ client });
    const sessions = new SessionService({ storage });
    await sessions.createSession({ ...KEY, metadata: { status: 'open', tags: ['vip'] } });
    const counts = [];
    for (const length of LENGTHS) {
      const { record } = (await storage.read({ key: KEY })) ?? {};
      for (let seq = record?.lastSeq ?? 0; seq < length; seq += BATCH) {
        await storage.append(plainCommit(seq, Math.min(BATCH, length - seq)));
      }
      await sessions.createSession({ ...KEY, sessionId: `other-${length}` });
      const counted: Record<string, number> = {};
      for (const [name, run] of Object.entries({
        ...operations(sessions, length),
        ...leaseOperations(storage.leases, length),
        ...agendaOperations(storage.agenda, length),
        ...(await consumerOperations(storage.consumers, length)),
        ...entryOperations(storage.entries),
      })) {
        trips = 0;
        await run();
        counted[name] = trips;
      }
      counts.push(counted);
    }
    const place = bench().name === 'redis' ? 0 : 1;
    const expected = Object.fromEntries(Object.entries(EXPECTED).map(([name, trip]) => [name, trip[place]]));
    expect(counts).toEqual([expected, expected]);
  });

  it('are one to begin, renew or end a turn, and none more to append in it', async () => {
    let trips = 0;
    const client = observedRedis(bench().client(), { beforeScript: () => trips++ });
    const sessions = new SessionService({ storage: bench().storage({ client }) });
    await sessions.createSession(KEY);
    // On a cluster, the first event also sends a hint for consumers, without waiting.
    await sessions.appendEvent({ session: SESSION, event: { author: 'agent' } });
    trips = 0;
    const turn = await sessions.beginTurn(KEY);
    expect(trips).toBe(1);
    await sessions.appendEvent({ session: SESSION, event: { author: 'agent' }, turn });
    expect(trips).toBe(2);
    await sessions.renewTurn(turn);
    expect(trips).toBe(3);
    await sessions.appendEvent({ session: SESSION, event: { author: 'agent' }, turn, endTurn: true });
    expect(trips).toBe(4);
  });

  it('are one to save the partial events of 32 sessions of a user, to read those of one, and none more to end them', async () => {
    let trips = 0;
    const client = observedRedis(bench().client(), { beforeScript: () => trips++ });
    const storage = bench().storage({ client });
    const sessions = new SessionService({ storage });
    const writes: Parameters<typeof storage.savePartial>[0][] = [];
    for (let index = 0; index < 33; index++) {
      const key = { ...KEY, sessionId: `s-${index}` };
      await sessions.createSession(key);
      const { token: turnToken } = await sessions.beginTurn(key);
      const { incarnation = '' } = (await storage.read({ key }))?.record ?? {};
      writes.push({ key, incarnation, turnToken, index: 1, messageId: 'm', content: '{}', ttlMs: 60_000 });
    }
    const [first] = writes;
    if (!first) throw new Error('There is no session');
    trips = 0;
    const save = (some: typeof writes) => Promise.all(some.map((write) => storage.savePartial(write)));
    await save(writes.slice(0, 32));
    expect(trips).toBe(1);
    await save(writes);
    expect(trips).toBe(1 + 2);
    const { key, incarnation } = first;
    const read = async () => (await storage.tails([{ key, incarnation, afterSeq: 0, limit: 0, afterPartial: 0 }]))[0];
    expect((await read())?.partials).toHaveLength(1);
    expect(trips).toBe(1 + 2 + 1);
    trips = 0;
    const commit = { ...plainCommit(0, 1), key, preconditions: { turnToken: first.turnToken }, endsPartials: ['m'] };
    await storage.append(commit);
    expect((await read())?.partials).toEqual([]);
    // On a cluster, the first event also sends a hint for consumers.
    expect(trips).toBe(bench().name === 'redis' ? 2 : 3);
  });
});

function plainCommit(first: number, events: number) {
  return {
    key: KEY,
    events: Array.from({ length: events }, (_, index) => {
      const number = first + index;
      return {
        id: `filler-${number}`,
        timestamp: Date.now(),
        anchor: number % 10 === 0,
        payload: PAYLOAD,
      };
    }),
    upserts: [],
    removals: [],
    counterIncrements: { ...NO_COUNTS, events, contentLength: 5 * events },
    expiry: lifetimesOf(DEFAULT_TTL),
    preconditions: {},
  };
}

const PAYLOAD = JSON.stringify({
  author: 'user',
  timestamp: Date.now(),
  content: { role: 'user', parts: [{ text: 'hello' }] },
  actions: { stateDelta: {} },
});

function operations(sessions: SessionService, length: number): Record<string, () => Promise<unknown>> {
  const append = (id: string, stateDelta: Record<string, unknown>) => () =>
    sessions.appendEvent({
      session: SESSION,
      event: { id: `${id}-${length}`, author: 'user', actions: { stateDelta } },
    });
  const appendTen = (id: string, keys: readonly string[]) => () =>
    sessions.appendEvents({
      session: SESSION,
      events: Array.from({ length: 10 }, (_, index) => ({
        id: `${id}-${length}-${index}`,
        author: 'user',
        actions: { stateDelta: Object.fromEntries(keys.map((key) => [key, index])) },
      })),
    });
  return {
    'create a session': () => sessions.createSession({ ...KEY, sessionId: `new-${length}` }),
    'append an event': append('plain', {}),
    'append with session and user state': append('own', { k: length, 'user:k': length }),
    'append with app state': append('app', { 'app:k': length }),
    'append the same event again': append('plain', {}),
    'append ten events with session and user state': appendTen('ten', ['k', 'user:k']),
    'append ten events with app state': appendTen('ten-app', ['k', 'app:k']),
    'append the same ten events again': appendTen('ten', ['k', 'user:k']),
    'read the session with its last 20 events': () => sessions.getSession({ ...KEY, config: { numRecentEvents: 20 } }),
    'read the session since a time': () => sessions.getSession({ ...KEY, config: { afterTimestamp: Date.now() } }),
    'read a page of the log': () => sessions.listEvents({ ...KEY, afterSeq: 50, limit: 20 }),
    'list the sessions of the user': () => sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 10 }),
    'list the sessions of the app': () => sessions.listSessions({ appName: 'shop', limit: 10 }),
    'list the sessions of the user by status and tag': () =>
      sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 10, filter: FILTER }),
    'list the sessions of the app by status and tag': () =>
      sessions.listSessions({ appName: 'shop', limit: 10, filter: FILTER }),
    'read user state': () => sessions.getUserState(KEY),
    'write app state': () => sessions.updateAppState({ ...KEY, stateDelta: { k: 1 } }),
    'delete a session, not the last one': () => sessions.deleteSession({ ...KEY, sessionId: `other-${length}` }),
  };
}

function leaseOperations(leases: LeaseStore, length: number): Record<string, () => Promise<unknown>> {
  const request = { name: `job ${length}`, holder: 'one', ttlMs: 60_000 };
  let held: Lease = { ...request, token: 0, expiresAt: 0 };
  return {
    'acquire a lease': async () => {
      held = (await leases.acquire(request)) ?? held;
    },
    'fail to acquire a lease': () => leases.acquire(request),
    'renew a lease': () => leases.renew(held, request.ttlMs),
    'release a lease': () => leases.release(held),
    'acquire a lease that this process released': () => leases.acquire(request),
  };
}

function agendaOperations(agenda: Agenda, length: number): Record<string, () => Promise<unknown>> {
  let due: readonly AgendaEntry[] = [];
  return {
    'add an agenda entry': () => agenda.put(`job ${length}`, 0),
    'read due agenda entries': async () => {
      due = await agenda.due(1_000);
    },
    'remove an agenda entry': () => Promise.all(due.map((entry) => agenda.remove(entry))),
  };
}

async function consumerOperations(
  consumers: ConsumerStore,
  length: number,
): Promise<Record<string, () => Promise<unknown>>> {
  const consumer = `mail ${length}`;
  await consumers.register(consumer, '');
  const work = [{ consumer, key: KEY, incarnation: 'one', seq: 0, upTo: length, since: 1 }];
  let claimed: readonly WorkEntry[] = [];
  const claim = async (): Promise<void> => {
    claimed = await consumers.claim({ consumer, claim: 'me', limit: 10, forMs: 60_000 });
  };
  const note = (seq: number) => async (): Promise<void> => {
    for (const entry of claimed) await consumers.note(entry, { seq, tries: 0, goesOn: true, dueInMs: 60_000 });
  };
  return {
    'find no work to claim': claim,
    'add work of a session': () => consumers.dispatch({ token: 1, work, taken: [] }),
    'claim work': claim,
    'save progress': note(1),
    'finish work': note(length),
    'read the lag of a consumer': () => consumers.lag(consumer),
  };
}

function entryOperations(entries: EntryStore): Record<string, () => Promise<unknown>> {
  const places = ['a', 'b'].map((name) => ({ space: 'jobs', name }));
  return {
    'write entries': () => entries.write(places.map((place) => ({ ...place, expected: undefined, next: undefined }))),
    'find entries': () => entries.find(places),
    'read a page of entries': () => entries.range({ space: 'jobs', limit: 10 }),
    'count entries': () => entries.count('jobs'),
  };
}
