import { DEFAULT_TTL } from '../../config/session-settings.js';
import type { Commit, Upsert } from '../../sessions/domain/stored/commit.js';
import { COUNTERS, type Counters, NO_COUNTS, countersWith } from '../../sessions/domain/stored/counters.js';
import { type Lifetimes, lifetimesOf } from '../../sessions/domain/values/expiry.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import type { StoredPartial } from '../../sessions/domain/stored/partial-event.js';
import type { CommitEvent } from '../../sessions/domain/stored/session-record.js';
import type { Lease, LeaseRequest } from '../../sessions/storage/coordination.js';
import { ownEntries } from '../../sessions/storage/state-entries.js';
import type {
  CreateRequest,
  OwnState,
  SessionStorage,
  StateEntries,
  StoredSession,
  StoredState,
} from '../../sessions/storage/session-storage.js';
import type { ManualClock } from '../manual-clock.js';
import type { OpenStorage } from '../open-storage.js';

/** The fixture of a test of the port. */
export interface StorageFixture extends Pick<OpenStorage, 'storage' | 'raw'> {
  readonly clock: ManualClock;
}

export const KEY: SessionKey = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
export const USER = { appName: 'shop', userId: 'ann' };
export const APP = { appName: 'shop' };

export const FOREVER: Lifetimes = lifetimesOf(DEFAULT_TTL);

/** Lifetimes in seconds; 0 = forever. */
export function lives({ session = 0, user = 0, app = 0 }): Lifetimes {
  return lifetimesOf({
    ...DEFAULT_TTL,
    enabled: true,
    sessionSeconds: session,
    userStateSeconds: user,
    appStateSeconds: app,
  });
}

export function creation(changes: Partial<CreateRequest> = {}): CreateRequest {
  return { key: KEY, baseState: '{}', upserts: [], expiry: FOREVER, ...changes };
}

/** A commit of one event, with defaults for everything that is not given. */
export function createTestCommit(
  id: string,
  { event, ...changes }: Partial<Omit<Commit, 'events'>> & { event?: Partial<CommitEvent> } = {},
): Commit {
  return createTestBatch([{ id, ...event }], changes);
}

/** A commit of several events, with defaults for everything that is not given. */
export function createTestBatch(
  events: readonly (Pick<CommitEvent, 'id'> & Partial<CommitEvent>)[],
  changes: Partial<Omit<Commit, 'events'>> = {},
): Commit {
  return {
    key: KEY,
    events: events.map(({ id, ...given }) => ({
      id,
      timestamp: 0,
      anchor: false,
      payload: JSON.stringify({ id }),
      ...given,
    })),
    upserts: [],
    removals: [],
    counterIncrements: NO_COUNTS,
    expiry: FOREVER,
    preconditions: {},
    ...changes,
  };
}

/** Counters that count up from this number, so that each has a value of its own. */
export function countersFrom(first: number): Counters {
  return countersWith((name) => first + COUNTERS.indexOf(name));
}

export function upsert(scope: Upsert['scope'], name: string, value: unknown): Upsert {
  return { scope, name, value: JSON.stringify(value) };
}

/** Creates the session of {@link KEY} with this many events: `e1`, `e2` … */
export async function sessionWithEvents(storage: SessionStorage, count: number): Promise<void> {
  await storage.create(creation());
  for (let seq = 1; seq <= count; seq++) await storage.append(createTestCommit(`e${seq}`));
}

/** Digests for a trim: `digest of e1`, `digest of e2` … */
export function digestsOf(firstSeq: number, newFirstSeq: number): string[] {
  return Array.from({ length: newFirstSeq - firstSeq }, (_, index) => `digest of e${firstSeq + index}`);
}

/** The partial events of {@link KEY} after this number. Undefined if the session is gone. */
export async function readPartials(
  storage: SessionStorage,
  incarnation: string,
  after = 0,
): Promise<readonly StoredPartial[] | undefined> {
  const [tail] = await storage.tails([{ key: KEY, incarnation, afterSeq: 0, limit: 0, afterPartial: after }]);
  return tail?.partials;
}

/** Reads the session, and fails if it does not exist. */
export async function readSession(storage: SessionStorage, key: SessionKey = KEY): Promise<Required<StoredSession>> {
  const everything = { withState: true, withMetadata: true, withSummary: true, withBase: true };
  const read = await storage.read({ key, window: {}, ...everything });
  if (!read) throw new Error(`There is no session ${key.sessionId}`);
  return { ...read, state: byKeys(read.state) } as Required<StoredSession>;
}

/** The state with the session's own keys one by one, however the store keeps them. */
export function byKeys(state: StoredState | undefined): Record<keyof StoredState, StateEntries> | undefined {
  return state && { ...state, session: ownEntries(state.session) };
}

export function leaseOf(changes: Partial<LeaseRequest> = {}): LeaseRequest {
  return { name: 'job', holder: 'somebody', ttlMs: 10_000, ...changes };
}

/** Acquires the lease, and fails if it is held. */
export async function acquired(storage: SessionStorage, request: LeaseRequest): Promise<Lease> {
  const lease = await storage.leases.acquire(request);
  if (!lease) throw new Error(`The lease ${JSON.stringify(request.name)} is not free`);
  return lease;
}

/** State entries as an object with parsed values. */
export function parsed(state: OwnState | undefined): Record<string, unknown> {
  return Object.fromEntries(ownEntries(state).map(([name, value]) => [name, JSON.parse(value) as unknown]));
}

/** Waits until all promises are settled. */
export async function together<T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, async (_, index) => start(index)));
}
