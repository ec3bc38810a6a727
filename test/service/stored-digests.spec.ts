import { type EventInput, SessionService } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import { eventDigest } from '../../src/sessions/domain/write/event-digest.js';
import type { StoredEvent } from '../../src/sessions/domain/stored/commit.js';
import { loggedEvent } from '../../src/sessions/domain/stored/stored-json.js';
import { type SessionStorage, payloadChecksum } from '../../src/storage.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { isFastLayer } from '../support/layer.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { RedisBench } from '../support/redis-servers.js';
import { isEveryStoreWanted } from '../support/rounds.js';
import { SQL_BENCHES } from '../support/sql-benches.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const LENGTH = 140;

/** A store, and a hand at the events of its only session. */
interface Bench {
  readonly storage: SessionStorage;
  change(seq: number, column: 'digest' | 'payload', text: string): Promise<void>;
  destroy(): Promise<void>;
}

const redisBench = (name: 'redis' | 'redis-cluster') => async (): Promise<Bench> => {
  const bench = new RedisBench(name);
  return {
    storage: bench.storage(),
    async change(seq, column, text) {
      const [key = '', node] = (await bench.keys()).find(([one]) => one.includes(':session:')) ?? [];
      const lines = (await node?.hget(key, String(seq)))?.split('\n') ?? [];
      lines[column === 'digest' ? 2 : 4] = text;
      await node?.hset(key, String(seq), lines.join('\n'));
    },
    destroy: () => bench.close(),
  };
};

const BENCHES = [
  { name: 'redis', open: redisBench('redis') },
  { name: 'redis-cluster', open: redisBench('redis-cluster') },
  ...SQL_BENCHES.map(({ name, open }) => ({
    name,
    async open(): Promise<Bench> {
      const { options, run, destroy } = await open();
      const storage = new TypeOrmSessionStorage(options);
      return {
        storage,
        change: (seq, column, text) =>
          run(`UPDATE agent_session_events SET ${column} = '${text.replaceAll("'", "''")}' WHERE seq = ${seq}`),
        async destroy() {
          await storage.close();
          await destroy();
        },
      };
    },
  })),
] as const;

/** In the fast layer, one for each layout. */
const OF_LAYER =
  isFastLayer && !isEveryStoreWanted ? BENCHES.filter(({ name }) => /^(redis|sqlite)$/.test(name)) : BENCHES;

function eventAt(seq: number): EventInput {
  const stateDelta = { [`k${seq % 3}`]: seq };
  const content = { role: 'user', parts: [{ text: `it's event ${seq}` }] };
  return { id: `e${seq}`, author: 'user', content, actions: { stateDelta } };
}

/** Older versions stored a digest with each event, and events of other programs have nothing. */
function digestOf({ seq, payload, digest }: StoredEvent): string {
  if (seq % 3 === 0) return eventDigest(loggedEvent({ seq, payload }));
  return seq % 3 === 1 ? '' : digest;
}

describeChosen('Events in a $name store', OF_LAYER, ({ open }) => {
  let bench: Bench;
  let sessions: SessionService;

  beforeEach(async () => {
    bench = await open();
    sessions = new SessionService({ storage: bench.storage });
    const session = await sessions.createSession({ ...KEY, state: { k0: 0 } });
    const events = Array.from({ length: LENGTH }, (_, index) => eventAt(index + 1));
    for (const event of events.slice(0, 20)) await sessions.appendEvent({ session, event });
    await sessions.appendEvents({ session, events: events.slice(20, 80) });
    await sessions.appendEvents({ session, events: events.slice(80) });
    await sessions.whenIdle();
  });
  afterEach(() => bench.destroy());

  const stored = async (): Promise<readonly StoredEvent[]> =>
    (await bench.storage.read({ key: KEY, window: {} }))?.events ?? [];

  const mixDigests = async (): Promise<void> => {
    for (const event of await stored()) await bench.change(event.seq, 'digest', digestOf(event));
  };

  it('have a checksum of their text, also in a fork', async () => {
    await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const fork = await bench.storage.read({ key: { ...KEY, sessionId: 'fork' }, window: {} });
    for (const { digest, payload } of [...(await stored()), ...(fork?.events ?? [])]) {
      expect(digest).toBe(payloadChecksum(payload ?? ''));
    }
  });

  it('are found by the doctor if their text was altered, with a checksum and with a digest of an older version', async () => {
    await mixDigests();
    expect((await diagnose({ storage: bench.storage })).findings).toEqual([]);
    for (const { seq, payload } of (await stored()).slice(0, 3)) {
      await bench.change(seq, 'payload', payload?.replace('event', 'Event') ?? '');
    }
    const { findings } = await diagnose({ storage: bench.storage });
    expect(findings.map(({ code, detail }) => [code, detail])).toEqual([
      ['EVENT_ALTERED', 'event 2 is not what was appended'],
      ['EVENT_ALTERED', 'event 3 is not what was appended'],
    ]);
  });

  it('are known after they were trimmed, whatever was stored with them', async () => {
    await mixDigests();
    const before = (await sessions.listEvents({ ...KEY, limit: 1_000 })).events;
    const trimming = new SessionService({ storage: bench.storage, history: { maxEvents: 5, keepHistory: false } });
    const session = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
    const events = Array.from({ length: 64 }, (_, index) => eventAt(LENGTH + 1 + index));
    await trimming.appendEvents({ session, events });
    await trimming.whenIdle();
    const { firstSeq } = await trimming.listEvents(KEY);
    expect(firstSeq).toBeGreaterThan(LENGTH);
    for (const seq of [1, 2, 3, 21, 22, 23, LENGTH - 1, LENGTH]) {
      const original = before[seq - 1];
      const again = { ...eventAt(seq), timestamp: original?.timestamp };
      for (const event of [eventAt(seq), again]) {
        expect(await trimming.append({ session, event })).toEqual({ event: original, duplicate: true });
      }
      const refusal = { code: 'EVENT_CONFLICT', eventId: `e${seq}`, seq };
      for (const event of [
        { ...again, author: 'agent' },
        { ...again, timestamp: 1_700_000_000_000 },
      ]) {
        await expect(trimming.append({ session, event })).rejects.toMatchObject(refusal);
      }
    }
    const { state } = (await trimming.getSession(KEY)) ?? {};
    expect(state?.toRecord()).toEqual({ k0: 204, k1: 202, k2: 203 });
    expect((await diagnose({ storage: bench.storage })).findings).toEqual([]);
  });
});
