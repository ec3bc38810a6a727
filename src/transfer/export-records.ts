import { createHash } from 'node:crypto';
import type { StoredEvent } from '../sessions/domain/stored/commit.js';
import { isReadable } from '../sessions/domain/stored/damaged-event.js';
import { NEVER } from '../sessions/domain/values/expiry.js';
import { type SessionKey, type StateOwner, sessionKeyOf, sessionNameOf } from '../sessions/domain/values/ids.js';
import { metadataEntries } from '../sessions/domain/metadata/metadata-entries.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import { positionOf } from '../sessions/storage/list-order.js';
import { ownEntries } from '../sessions/storage/state-entries.js';
import type { ListPosition, ReadRequest, SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import { exportComponents } from './export-components.js';
import { exportUsage } from './export-usage.js';
import type {
  EndLine,
  EventLine,
  SessionLine,
  SkippedLine,
  SkippedSession,
  StateLine,
  TransferFilter,
  TransferRecord,
  UsageLine,
  VoidLine,
} from './transfer-records.js';

const UNREADABLE = 'its record cannot be read: run agent-sessions verify';
const SESSIONS_PER_PAGE = 100;
const EVENTS_PER_PAGE = 500;
const BYTES_PER_PAGE = 1_048_576;

/**
 * Reads everything, session by session, and never more than a page of events at a time. Sessions are consistent in themselves:
 * their state is that after their last event here.
 */
export async function* exportRecords(
  storage: SessionStorage,
  filter: TransferFilter,
  components: readonly ComponentStore[] = storage.components ? [storage.components] : [],
): AsyncGenerator<TransferRecord> {
  yield* sessionsAndShared(storage, filter);
  for (const store of new Set(components)) yield* exportComponents(store, filter);
}

async function* sessionsAndShared(storage: SessionStorage, filter: TransferFilter): AsyncGenerator<TransferRecord> {
  const { appName, userId, sessionId } = filter;
  if (appName !== undefined && userId !== undefined && sessionId !== undefined) {
    yield* exportSteadily(storage, { appName, userId, sessionId });
    return;
  }
  for (const app of appName === undefined ? await storage.consumers.apps() : [appName]) {
    const users = new Set<string>();
    for await (const { key, isDamaged } of findExportedSessions(storage, { appName: app, userId })) {
      if (!storage.transfer) users.add(key.userId);
      if (isDamaged) yield { kind: 'skipped', ...key, reason: 'damaged', problem: UNREADABLE };
      else yield* exportSteadily(storage, key);
    }
    if (userId === undefined) yield* exportShared(storage, { appName: app });
    for await (const user of listExportedUsers(storage, app, userId, users))
      yield* exportShared(storage, { appName: app, userId: user });
  }
}

interface FoundSession {
  readonly key: SessionKey;
  /** Whether its record cannot be read. */
  readonly isDamaged: boolean;
}

/** By creation, so that sessions that change in the meantime are found once. */
async function* findExportedSessions(storage: SessionStorage, owner: StateOwner): AsyncGenerator<FoundSession> {
  let after: ListPosition | undefined;
  for (;;) {
    const {
      sessions,
      damaged: unreadable = [],
      isCut,
    } = await storage.list({
      ...owner,
      orderBy: 'createTime',
      order: 'asc',
      limit: SESSIONS_PER_PAGE,
      after,
      withState: false,
      maxBytes: BYTES_PER_PAGE,
    });
    const names = new Set(unreadable.map(sessionNameOf));
    for (const key of unreadable) yield { key, isDamaged: true };
    for (const { record } of sessions) {
      const key = sessionKeyOf(record);
      if (!names.has(sessionNameOf(key))) yield { key, isDamaged: false };
    }
    const last = sessions.at(-1)?.record;
    if (!last || (sessions.length < SESSIONS_PER_PAGE && !isCut)) return;
    after = positionOf(last, { orderBy: 'createTime' });
  }
}

/** A store without `transfer` knows users by their sessions only. */
async function* listExportedUsers(
  { transfer }: SessionStorage,
  appName: string,
  userId: string | undefined,
  withSessions: ReadonlySet<string>,
): AsyncGenerator<string> {
  if (userId !== undefined) yield userId;
  else if (transfer) for await (const users of transfer.sharedOwners(appName)) yield* users;
  else yield* withSessions;
}

/** How often a session is read that changes while it is read. */
const ATTEMPTS = 5;

type SessionRecords = SessionLine | EventLine | EndLine;

/** Why a session could not be read to its end. */
type Interruption = Pick<SkippedSession, 'reason' | 'problem'>;

/** A session with its events; nothing if there is none. If it changes meanwhile, what came of it is void, and it comes again. */
async function* exportSteadily(
  storage: SessionStorage,
  key: SessionKey,
): AsyncGenerator<SessionRecords | VoidLine | SkippedLine> {
  let last: Interruption | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const interruption = yield* exportSession(storage, key);
    if (interruption === 'missing') break;
    if (!interruption) return;
    yield { kind: 'void', problem: interruption.problem };
    const isDamaged = interruption.reason === 'damaged' && last?.problem === interruption.problem;
    last = interruption;
    if (isDamaged || interruption.reason === 'deleted') break;
  }
  if (last) yield { kind: 'skipped', ...key, ...last };
}

/** A session with its events, read once. Says why it is not whole. */
export async function* exportSession(
  storage: SessionStorage,
  key: SessionKey,
): AsyncGenerator<SessionRecords, Interruption | 'missing' | undefined> {
  const read = await storage.read({ ...pageAfter(key, 0), withState: true, withMetadata: true, withBase: true });
  // It was deleted or has expired.
  if (!read) return 'missing';
  const { record } = read;
  yield sessionLine(read);
  const digest = createHash('sha256');
  let next = record.firstSeq;
  for (let page: readonly StoredEvent[] = read.events; next <= record.lastSeq;) {
    for (const stored of page) {
      const { seq, appendedAt, payload } = stored;
      if (seq > record.lastSeq) break;
      // A text that is no JSON would make the whole file unreadable.
      if (seq !== next || payload === null || !isReadable(stored)) return damaged(next);
      digest.update(payload).update('\n');
      yield { kind: 'event', seq, appendedAt, payload };
      next = seq + 1;
    }
    if (next > record.lastSeq) break;
    const more = await storage.read(pageAfter(key, next - 1));
    const interruption = interruptionOf(record, more?.record, next);
    if (interruption) return interruption;
    if (!more || more.events.length === 0) return damaged(next);
    page = more.events;
  }
  yield { kind: 'end', events: next - record.firstSeq, digest: digest.digest('hex') };
  return undefined;
}

function damaged(seq: number): Interruption {
  return { reason: 'damaged', problem: `event ${seq} cannot be read: run agent-sessions verify` };
}

function interruptionOf(begun: SessionRecord, now: SessionRecord | undefined, next: number): Interruption | undefined {
  if (!now) return { reason: 'deleted', problem: 'it was deleted while it was exported' };
  if (now.incarnation !== begun.incarnation) {
    return { reason: 'changing', problem: 'it was deleted and created again while it was exported' };
  }
  return now.firstSeq > next ? { reason: 'changing', problem: 'its log was trimmed while it was exported' } : undefined;
}

function pageAfter(key: SessionKey, afterSeq: number): ReadRequest {
  return { key, window: { afterSeq, limit: EVENTS_PER_PAGE, keep: 'oldest', maxBytes: BYTES_PER_PAGE } };
}

function sessionLine({ record, state, metadata, baseState }: StoredSession): SessionLine {
  const { createTime, lastUpdateTime, expiresAt, firstSeq, lastSeq, tipSeq, counters, marks, marksSeq } = record;
  const { turnsOnly, usage } = record;
  return {
    kind: 'session',
    ...sessionKeyOf(record),
    createTime,
    lastUpdateTime,
    expiresAt: expiresAt < NEVER ? expiresAt : undefined,
    firstSeq,
    lastSeq,
    tipSeq,
    counters,
    marks,
    marksSeq,
    turnsOnly,
    metadata: [...metadataEntries(metadata ?? '')],
    state: ownEntries(state?.session),
    baseState: baseState ?? '{}',
    usage,
  };
}

/** The state and the usage of a user or an app, as far as there are any. */
export async function* exportShared(storage: SessionStorage, owner: StateOwner): AsyncGenerator<StateLine | UsageLine> {
  const { entries, expiresAt = NEVER } = await storage.readScope(owner);
  if (entries.length > 0)
    yield { kind: 'state', ...owner, expiresAt: expiresAt < NEVER ? expiresAt : undefined, entries };
  const sums = await exportUsage(storage, owner);
  if (sums.length > 0) yield { kind: 'usage', ...owner, sums };
}
