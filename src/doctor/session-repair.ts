import { DEFAULT_LIMITS } from '../config/session-settings.js';
import { randomId, systemClock } from '../sessions/domain/clock.js';
import type { Commit } from '../sessions/domain/commit.js';
import { addCounters, subtractCounters } from '../sessions/domain/counters.js';
import { type Lifetime, type Lifetimes, NEVER } from '../sessions/domain/expiry.js';
import { sessionKeyOf } from '../sessions/domain/ids.js';
import type { SessionRecord } from '../sessions/domain/session-record.js';
import { stateWrites } from '../sessions/domain/stored-json.js';
import { submitEvent } from '../sessions/domain/submitted-event.js';
import type { SessionStorage, TouchRequest } from '../sessions/storage/session-storage.js';
import type { FindingCode, Note } from './findings.js';
import type { RepairPlan, SessionCheck } from './session-check.js';

/** What an appended event mends. */
const BY_APPEND: ReadonlySet<FindingCode> = new Set([
  'STATE_DIFFERS',
  'COUNTERS_DIFFER',
  'MARKS_DIFFER',
  'RECORD_DIFFERS',
]);

/** The event restores what other events said, however much that is. */
const NO_LIMITS = { ...DEFAULT_LIMITS, maxEventBytes: Infinity, maxDepth: Infinity, maxDeltaKeys: Infinity };

/** The turn of a repair is over soon, even if this process ends. */
const TURN_MS = 10_000;

/** Whether a repair can mend it. */
export function isRepairable({ code }: Note, { plan }: SessionCheck): boolean {
  return code === 'EXPIRY_MISSING' || (plan !== undefined && BY_APPEND.has(code));
}

/** Mends what can be mended in a session. Does nothing where somebody has written in the meantime. */
export async function repairSession(
  storage: SessionStorage,
  { stored: { record, now }, notes, plan }: SessionCheck,
  lifetimes: Lifetimes | undefined,
): Promise<void> {
  const codes = notes.map(({ code }) => code).filter((code) => BY_APPEND.has(code));
  if (plan && codes.length > 0) await appendRepair(storage, record, plan, codes, now);
  if (lifetimes && notes.some(({ code }) => code === 'EXPIRY_MISSING')) {
    await setLifetime(storage, record, { session: lifetimes.session });
  }
}

/** Gives a session, its user or its app a lifetime from now on. */
export async function setLifetime(
  storage: SessionStorage,
  record: SessionRecord,
  renew: TouchRequest['renew'],
): Promise<void> {
  await storage.touch({ key: sessionKeyOf(record), incarnation: record.incarnation, renew });
}

async function appendRepair(
  storage: SessionStorage,
  record: SessionRecord,
  plan: RepairPlan,
  codes: readonly FindingCode[],
  now: number,
): Promise<void> {
  const key = sessionKeyOf(record);
  const turnToken = record.turnsOnly ? await turnOf(storage, record) : undefined;
  if (record.turnsOnly && turnToken === undefined) return;
  const { changes, counters = record.counters, marks = record.marks, highWater } = plan;
  const actions = { stateDelta: changes.stateDelta, stateRemovals: [...changes.stateRemovals] };
  const timestamp = Math.max(systemClock.now(), highWater);
  const event = { author: 'system', timestamp, actions, customMetadata: { repaired: [...new Set(codes)] } };
  const submitted = submitEvent(event, { limits: NO_LIMITS, clock: systemClock, newId: randomId });
  const { id } = submitted.event;
  const { anchor, group, payload } = submitted;
  const commit: Commit = {
    key,
    events: [{ id, digest: storage.isInProcess ? '' : submitted.digest, timestamp, anchor, group, payload }],
    ...stateWrites(submitted.changes),
    counterIncrements: addCounters(subtractCounters(counters, record.counters), submitted.counts),
    // With marks, a store decides by what it has stored, not by what it remembers of its own appends.
    marks,
    expiry: { session: sameExpiry(record.expiresAt, now), user: UNCHANGED, app: UNCHANGED },
    preconditions: { incarnation: record.incarnation, lastSeq: record.lastSeq, turnToken },
    endsTurn: turnToken !== undefined,
  };
  await storage.append(commit);
}

/** A session that accepts only writes of a turn. `undefined` if somebody has the turn. */
async function turnOf(storage: SessionStorage, record: SessionRecord): Promise<string | undefined> {
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
