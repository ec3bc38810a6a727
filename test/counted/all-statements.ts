import type { SessionService, SessionServiceOptions } from '../../src/index.js';
import { ComponentSession } from '../../src/components/index.js';
import type { EventInput } from '../../src/sessions/domain/event/event.js';
import type { SessionStorage } from '../../src/storage.js';
import type { ManualClock } from '../../src/testing/manual-clock.js';
import { KEY, METADATA, OPERATIONS, SESSION } from './operations.js';

const WITH_TTL = { enabled: true, sessionSeconds: 1_000, userStateSeconds: 1_000, appStateSeconds: 1_000 };

/** Settings that lead to different statements. */
export const SETTINGS: readonly Omit<SessionServiceOptions, 'storage' | 'clock'>[] = [
  {},
  { history: { maxEvents: 20 } },
  { history: { eventTtlSeconds: 60 }, ttl: WITH_TTL },
  { history: { maxEvents: 5, eventTtlSeconds: 60, keepHistory: false }, ttl: WITH_TTL },
];

/** A store that can be filled with many rows directly. */
export interface FillableStore {
  readonly sessions: SessionService;
  readonly storage: SessionStorage;
  readonly clock: ManualClock;
  fillSessions(count: number): Promise<void>;
  fillLog(count: number, eventAt: (seq: number) => EventInput): Promise<void>;
}

/** Makes a store send each kind of its statements. */
export async function runAllStatements(store: FillableStore): Promise<void> {
  const { sessions, storage, clock, fillSessions, fillLog } = store;
  await sessions.createSession({ ...KEY, metadata: METADATA, state: { step: 0, 'user:step': 0, 'app:step': 0 } });
  await fillSessions(50);
  await fillLog(620, (seq) => ({ author: seq < 10 ? 'user' : 'agent' }));
  // Enough for a trim of history, which runs every 64 events.
  for (let number = 1; number <= 40; number++)
    await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
  await sessions.whenIdle();
  await sessions.appendEvent({ session: SESSION, event: { author: 'user', actions: { rewind: { toSeq: 640 } } } });
  await sessions.rewindSession({ ...KEY, invocationId: 'missing' }).catch(() => undefined);
  await sessions.getSession(KEY);
  await sessions.appendEvent({
    session: SESSION,
    event: { author: 'user', actions: { compaction: { fromSeq: 630, toSeq: 635 } } },
  });
  clock.advanceSeconds(500);
  await sessions.getUserState(KEY);
  const session = await sessions.getSession(KEY);
  if (!session) throw new Error('The session expired too early');
  for (const { run } of OPERATIONS) await run({ sessions, session });
  await runWatches(store);
  await runLargeState(store);
  for (const orderBy of ['createTime', 'lastUpdateTime'] as const) {
    for (const userId of ['ann', undefined]) {
      for (const maxExamined of [3, 1_000]) {
        const filter = { entries: ['status\n"common"', 'tag:all\ntrue'], maxExamined };
        const request = { appName: 'shop', userId, orderBy, order: 'desc', limit: 10, filter } as const;
        const { examinedTo: after } = await storage.list(request);
        if (after) await storage.list({ ...request, after });
      }
    }
  }
  // Enough for several texts.
  await fillLog(5_100, () => ({ author: 'agent' }));
  clock.advanceSeconds(2_000);
  await sessions.updateUserState({ ...KEY, stateDelta: { step: 4 } });
  await sessions.purgeExpired();
  const { agenda } = storage;
  await agenda.put('job', 0);
  for (const entry of await agenda.due(10)) await agenda.remove(entry);
  await runEntries(store);
  await runConsumers(store);
  await runComponents(store);
}

/** A large state has rows of its own. */
async function runLargeState({ sessions }: FillableStore): Promise<void> {
  const key = { ...KEY, sessionId: 'large' };
  const session = await sessions.createSession({ ...key, state: { large: 'x'.repeat(2_000), other: 1 } });
  await sessions.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { other: 2 } } } });
  await sessions.appendEvent({ session, event: { author: 'user', actions: { stateRemovals: ['other'] } } });
  await sessions.getSession(key);
  await sessions.listSessions({ appName: KEY.appName, userId: KEY.userId });
  await sessions.listSessions({ appName: KEY.appName });
}

/** What watches of two logs read together. */
async function runWatches({ sessions, storage }: FillableStore): Promise<void> {
  const other = { ...KEY, sessionId: 'other' };
  await sessions.createSession(other);
  const logs = [];
  for (const key of [KEY, other]) {
    const { incarnation = '', lastSeq = 0 } = (await storage.read({ key }))?.record ?? {};
    logs.push({ key, incarnation, afterSeq: lastSeq - 1, limit: 0, withLastPartial: true });
  }
  await storage.tails(logs);
  await storage.tails(logs.map((log) => ({ ...log, withLastPartial: false, afterPartial: 0, limit: 4 })));
  await storage.tails(logs.map((log) => ({ ...log, withLastPartial: false, bytesTo: 100 })));
  await sessions.deleteSession(other);
}

async function runComponents({ storage, clock }: FillableStore): Promise<void> {
  if (!storage.components) return;
  const components = new ComponentSession({ store: storage.components, ttlMs: 1_000_000 });
  for (const session of ['one', 'two']) {
    for (let round = 0; round < 2; round++) {
      await components.save(session, 'value', round);
      await components.saveList(session, 'list', [round]);
    }
    await components.append(session, 'list', ['new']);
    await components.getList(session, 'list');
    await components.listNames(session);
  }
  await components.listSessionKeys();
  await components.delete('one', 'list');
  await components.delete('two');
  // Enough for several texts.
  const items = Array.from({ length: 5_100 }, (_, index) => index);
  await components.saveList('one', 'long', items);
  // Only its expiry moves.
  await components.saveList('one', 'long', items);
  clock.advanceSeconds(1_000);
  await components.purgeExpired();
  await components.save('three', 'value', 1);
  clock.advanceSeconds(1_000);
  await components.save('three', 'value', 1);
}

async function runEntries({ sessions, storage: { entries }, clock }: FillableStore): Promise<void> {
  const places = ['jobs', 'other'].map((space) => ({ space, name: 'a' }));
  const next = { stamp: 1, rank: { inMs: 0 }, since: 0, text: '', ttlMs: 1_000 };
  await entries.write(places.map((place) => ({ ...place, expected: undefined, next })));
  await entries.write(places.map((place) => ({ ...place, expected: 1, next })));
  await entries.find(places);
  await entries.range({ space: 'jobs', upTo: 'now', limit: 10 });
  await entries.range({ space: 'jobs', from: 1, upTo: 2, after: { rank: 1, name: 'a' }, limit: 10 });
  await entries.count('jobs');
  await entries.write([{ space: 'jobs', name: 'a', expected: 1, next: undefined }]);
  clock.advanceSeconds(2);
  await sessions.purgeExpired();
}

/** All but the list of consumers, which is read as a whole. */
async function runConsumers({ sessions, storage: { consumers } }: FillableStore): Promise<void> {
  const name = 'mail';
  await consumers.register(name, '');
  await sessions.createSession(KEY);
  for (let round = 1; round <= 2; round++) {
    await sessions.appendEvents({ session: SESSION, events: [{ author: 'user' }, { author: 'user' }] });
    const taken = (await consumers.changed(10)).filter(({ sessionId }) => sessionId === KEY.sessionId);
    const work = taken.map(({ incarnation, dispatchedSeq: seq, lastSeq: upTo, waitingSince: since }) => {
      return { consumer: name, key: KEY, incarnation, seq, upTo, since };
    });
    await consumers.dispatch({ token: 1, work, taken, settings: { name, expected: '', next: '' } });
    const [entry] = await consumers.claim({ consumer: name, claim: 'one', limit: 10, forMs: 1_000 });
    if (!entry) throw new Error('There is no work');
    const letter = { seq: entry.seq + 1, tries: 1, problem: 'broken' };
    await consumers.note(entry, { seq: entry.seq + 1, tries: 0, goesOn: true, dueInMs: 1_000, letter });
    await consumers.note(entry, { seq: entry.upTo, tries: 0, goesOn: true, dueInMs: 1_000 });
  }
  const [first, second] = await consumers.deadLetters(name, 10);
  if (first) await consumers.resolve(first, 'retry');
  if (second) await consumers.resolve(second, 'drop');
  await consumers.apps();
  await consumers.lag(name);
  await consumers.remove(name, 10);
}
