import { type Counters, NO_COUNTS, storedCounters } from '../../domain/stored/counters.js';
import { NEVER } from '../../domain/values/expiry.js';
import type { SessionKey } from '../../domain/values/ids.js';
import { NOTHING_WAITS, type SessionRecord } from '../../domain/stored/session-record.js';
import { UNCOUNTED } from '../../domain/stored/state-size.js';
import { NO_TURN } from '../../domain/stored/turn.js';
import { splitStateKey } from '../../../state/scopes.js';
import { storedJson } from '../../domain/stored/stored-json.js';
import { NO_MARKS } from '../../domain/stored/view-marks.js';
import type { PlannedEntry } from '../planned-write.js';
import type { StoredState } from '../session-storage.js';
import { BASE_KEY, METADATA_KEY, SNAPSHOT_KEY, isSessionKey } from './reserved-keys.js';
import { type VertexSession, lastPart, millisOf } from './wire.js';

/** The parts of a record that the store keeps; the rest follows from the session in Vertex AI. */
export type RecordPart = Pick<
  SessionRecord,
  'lastSeq' | 'tipSeq' | 'lastUpdateTime' | 'highWater' | 'counters' | 'marks' | 'marksSeq' | 'turnsOnly' | 'usage'
>;

/** What the store keeps in the state of a session, under a key of its own: the record after the last event. */
export interface Snapshot extends RecordPart {
  /** The session's own id, which the service may not accept as such. */
  readonly sessionId: string;
  /** The id of the last event. */
  readonly lastId: string;
  /** Names of removed keys, which are `null` in the state of the session. */
  readonly removed: readonly string[];
  /** Identifies the creation. */
  readonly nonce: string;
  /** Whether events of the initial log are missing. */
  readonly isBuilding?: boolean | undefined;
  /** Of a session that another store had. */
  readonly origin?: SnapshotOrigin | undefined;
}

/** What a session that another store had brought along, and the service would have otherwise. */
export interface SnapshotOrigin {
  readonly createTime: number;
  /** The events before it were trimmed. */
  readonly firstSeq: number;
  /** When it really expires, as long as the service has the expiry that it was given instead. */
  readonly expiresAt: number;
  readonly givenExpiry: number;
  /** What the trimmed events add to the counters. Missing until the first append. */
  readonly trimmed?: Counters | undefined;
}

/** When a session expires. The service lets all sessions live for a day, and none for ever. */
export function findSessionExpiry({ expireTime }: VertexSession, snapshot: Snapshot | undefined): number {
  if (expireTime === undefined) return NEVER;
  const expiry = millisOf(expireTime);
  const { origin } = snapshot ?? {};
  return origin?.givenExpiry === expiry ? origin.expiresAt : expiry;
}

/** The snapshot of a session; undefined for one that another program created. */
export function snapshotIn({ sessionState }: VertexSession): Snapshot | undefined {
  const text = sessionState?.[SNAPSHOT_KEY];
  if (typeof text !== 'string') return undefined;
  const found = storedJson(text, 'a session') as Snapshot;
  return { ...found, counters: storedCounters(found.counters ?? NO_COUNTS), marks: found.marks ?? NO_MARKS };
}

/** The session's own id. */
export function sessionIdOf(session: VertexSession): string {
  return snapshotIn(session)?.sessionId ?? lastPart(session.name);
}

export function snapshotText(snapshot: Snapshot): string {
  return JSON.stringify(snapshot);
}

/** The record of a session. */
export function toVertexRecord(
  { appName, userId, sessionId }: SessionKey,
  found: {
    readonly session: VertexSession;
    readonly snapshot: Snapshot | undefined;
    readonly incarnation: string;
    readonly expiresAt: number;
  },
  part: RecordPart,
): SessionRecord {
  const origin = found.snapshot?.origin;
  const createTime = origin?.createTime ?? millisOf(found.session.createTime);
  return {
    appName,
    userId,
    sessionId,
    incarnation: found.incarnation,
    createTime,
    expiresAt: found.expiresAt,
    firstSeq: origin?.firstSeq ?? 1,
    ...recordPart(part),
    lastUpdateTime: origin ? part.lastUpdateTime : Math.max(createTime, part.lastUpdateTime),
    turn: NO_TURN,
    stateBytes: UNCOUNTED,
    dispatchedSeq: 0,
    waitingSince: NOTHING_WAITS,
  };
}

/** The parts of a record that a snapshot keeps. */
export function recordPart(record: RecordPart): RecordPart {
  const { lastSeq, tipSeq, lastUpdateTime, highWater, counters, marks, marksSeq, turnsOnly, usage } = record;
  return { lastSeq, tipSeq, lastUpdateTime, highWater, counters, marks, marksSeq, turnsOnly, usage };
}

/** The state that a session shows. Keys of shared scopes are those that another program put into this session. */
export function stateIn({ sessionState = {} }: VertexSession, removed: readonly string[] = []): StoredState {
  const state: Record<'session' | 'user' | 'app', [string, string][]> = { session: [], user: [], app: [] };
  for (const [key, value] of Object.entries(sessionState)) {
    if (!isSessionKey(key)) continue;
    const { scope, name } = splitStateKey(key);
    if (scope === 'temp' || (value === null && removed.includes(key))) continue;
    state[scope].push([name, JSON.stringify(value)]);
  }
  return state;
}

/** The state with which the session began. */
export function baseStateIn({ sessionState = {} }: VertexSession): string | undefined {
  const text = sessionState[BASE_KEY];
  return typeof text === 'string' ? text : undefined;
}

export function metadataIn({ sessionState = {} }: VertexSession): string {
  const text = sessionState[METADATA_KEY];
  return typeof text === 'string' ? text : '';
}

/** Removed keys after a commit. */
export function removedAfter(before: readonly string[], entries: readonly PlannedEntry[]): readonly string[] {
  if (entries.length === 0) return before;
  const names = new Set(before);
  for (const { name, value } of entries) {
    if (value === undefined) names.add(name);
    else names.delete(name);
  }
  return [...names];
}
