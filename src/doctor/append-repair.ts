import { systemClock } from '../sessions/domain/process/clock.js';
import { randomId, sessionKeyOf } from '../sessions/domain/values/ids.js';
import type { Commit } from '../sessions/domain/stored/commit.js';
import { type Counters, NO_COUNTS, addCounters, subtractCounters } from '../sessions/domain/stored/counters.js';
import type { EventInput } from '../sessions/domain/event/event.js';
import { type Lifetime, NEVER, isExpired } from '../sessions/domain/values/expiry.js';
import { metadataDeltaOf } from '../sessions/domain/metadata/metadata.js';
import { DIED, problemResponses } from '../sessions/domain/event/open-calls.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { stateWrites } from '../sessions/domain/stored/stored-json.js';
import { submitEvent } from '../sessions/domain/write/submitted-event.js';
import type { ViewMarks } from '../sessions/domain/stored/view-marks.js';
import { groupBy } from '../sessions/domain/stored/batches.js';
import type { SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import { NO_LIMITS } from './event-repair.js';
import type { FindingCode } from './findings.js';
import type { RepairPlan } from './session-check.js';

/** The turn of a repair is over soon, even if this process ends. */
const TURN_MS = 10_000;

/** A session and the time at which it was read. */
type ReadSession = Pick<StoredSession, 'record' | 'now'>;

/** Appends an event with the difference. Returns whether it was appended. */
export async function appendDifference(
  storage: SessionStorage,
  session: ReadSession,
  { changes, counters, marks, metadata, highWater }: RepairPlan,
  codes: readonly FindingCode[],
): Promise<boolean> {
  const { record } = session;
  const actions = {
    stateDelta: changes.stateDelta,
    stateRemovals: [...changes.stateRemovals],
    ...(metadata.length > 0 && { metadataDelta: metadataDeltaOf(metadata) }),
  };
  const event = { author: 'system', actions, customMetadata: { repaired: [...new Set(codes)] } };
  const increments = counters && subtractCounters(counters, record.counters);
  return append(storage, session, { event, increments, marks, highWater });
}

/** Appends a response to each call that was left, as a turn does after a process that died. */
export async function appendResponses(
  storage: SessionStorage,
  expected: SessionRecord,
  { leftCalls, highWater }: RepairPlan,
): Promise<void> {
  const customMetadata = { repaired: ['TOOL_CALL_WITHOUT_RESPONSE'] };
  let { lastSeq } = expected;
  for (const [invocationId, calls] of groupBy(leftCalls, (call) => call.invocationId)) {
    for (const event of problemResponses(calls, invocationId, DIED)) {
      const read = await storage.read({ key: sessionKeyOf(expected) });
      // Somebody who is at work may still have the response.
      if (read?.record.incarnation !== expected.incarnation || read.record.lastSeq !== lastSeq) return;
      if (!isExpired(read.record.turn.expiresAt, read.now)) return;
      if (!(await append(storage, read, { event: { ...event, customMetadata }, highWater }))) return;
      lastSeq++;
    }
  }
}

/** An event that mends a session. */
interface Repair {
  readonly event: EventInput;
  /** What the counters lack, besides the event. */
  readonly increments?: Counters | undefined;
  readonly marks?: ViewMarks | undefined;
  readonly highWater: number;
}

async function append(
  storage: SessionStorage,
  { record, now }: ReadSession,
  { event, increments = NO_COUNTS, marks = record.marks, highWater }: Repair,
): Promise<boolean> {
  const turnToken = record.turnsOnly ? await beginRepairTurn(storage, record) : undefined;
  if (record.turnsOnly && turnToken === undefined) return false;
  const timestamp = Math.max(systemClock.now(), highWater);
  const submitted = submitEvent({ ...event, timestamp }, { limits: NO_LIMITS, clock: systemClock, newId: randomId });
  const { id } = submitted.event;
  const { anchor, group, payload } = submitted;
  const commit: Commit = {
    key: sessionKeyOf(record),
    events: [{ id, timestamp, anchor, group, payload }],
    ...stateWrites(submitted.changes),
    metadata: submitted.metadata.length > 0 ? submitted.metadata : undefined,
    counterIncrements: addCounters(increments, submitted.counts),
    // With marks, a store decides by what it has stored, not by what it remembers of its own appends.
    marks,
    expiry: { session: sameExpiry(record.expiresAt, now), user: UNCHANGED, app: UNCHANGED },
    preconditions: { incarnation: record.incarnation, lastSeq: record.lastSeq, turnToken },
    endsTurn: turnToken !== undefined,
  };
  return (await storage.append(commit)).kind === 'appended';
}

/** A session that accepts only writes of a turn. `undefined` if somebody has the turn. */
async function beginRepairTurn(storage: SessionStorage, record: SessionRecord): Promise<string | undefined> {
  const token = randomId();
  const begin = { action: 'begin', key: sessionKeyOf(record), token, holder: 'doctor', requestId: token } as const;
  const { kind } = await storage.turn({ ...begin, ttlMs: TURN_MS });
  return kind === 'changed' ? token : undefined;
}

/** A repair is no use of a session: it expires when it would have expired. */
function sameExpiry(expiresAt: number, now: number): Lifetime {
  return { ttlMs: expiresAt >= NEVER ? NEVER : Math.max(1, expiresAt - now), renewBelowMs: 0 };
}

/** No renewal is due below 0, and the repair does not write to shared state. */
const UNCHANGED: Lifetime = { ttlMs: NEVER, renewBelowMs: 0 };
