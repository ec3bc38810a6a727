import { inBatches } from '../domain/stored/batches.js';
import { isOfBranch } from '../domain/view/branch-view.js';
import { canonicalJson } from '../domain/values/canonical-json.js';
import { CHECKPOINT_EVERY } from '../domain/history/checkpoint.js';
import type { StoredEvent } from '../domain/stored/commit.js';
import { readableEvent } from '../domain/stored/damaged-event.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors/errors.js';
import { isRedacted, listEventTexts } from '../domain/event/event-inspection.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, checkedSessionKey, sessionKeyOf } from '../domain/values/ids.js';
import { isCount, optionalFlag } from '../domain/values/input-checks.js';
import { checkedReason } from '../domain/values/reason.js';
import { redactedEvent, redactionNews, redactionOf } from '../domain/write/redacted-event.js';
import { type SessionRecord, retentionProblem } from '../domain/stored/session-record.js';
import { referenceTo } from '../domain/session/session.js';
import { isTrimmed, loggedEvent } from '../domain/stored/stored-json.js';
import type { SessionEnvironment } from '../session-environment.js';
import { commitEvent } from './append-events.js';
import { changeSession } from './change-session.js';
import { LogPoints, readLog, undefinedIfTrimmed } from './read-log.js';
import { replaceEvents, whileNobodyReplaces } from './replace-events.js';
import { type TurnReference, turnPart, withTurn } from './turns.js';

/** The event to redact, and why. */
export interface RedactEventRequest extends SessionKey {
  readonly seq: number;
  /** For the note in the event, which stays: at most 500 UTF-8 bytes. */
  readonly reason: string;
  /** Whether the values that the event wrote into state go, too, where they are still there. Default: `false`. */
  readonly state?: boolean | undefined;
  /** Refuse with `TurnLostError` if this turn is over. A session that accepts only writes in a turn gets one if this is left out. */
  readonly turn?: TurnReference | undefined;
}

/** An event that was redacted. */
export interface RedactedEvent {
  /** Without what it said, and with a `redaction`. */
  readonly event: LoggedEvent;
  /** Whether it had been redacted before. */
  readonly duplicate: boolean;
  /** Later events of the session that may have the same content: summaries that cover it, the same text, the same values of state. */
  readonly alsoIn: readonly number[];
}

interface CheckedRequest {
  readonly key: SessionKey;
  readonly seq: number;
  readonly reason: string;
  readonly takesState: boolean;
  readonly turn: TurnReference | undefined;
}

/**
 * Replaces the text of an event in the store, then appends an event that says so. If it fails in between, a repetition goes on: both are
 * found again.
 */
export async function redactEvent(served: SessionEnvironment, request: RedactEventRequest): Promise<RedactedEvent> {
  // What must not stay goes, however much its user has written.
  const env = { ...served, quotas: undefined };
  const checked = checkedRequest(request);
  const { key } = checked;
  const found = await readEvent(env, checked);
  if (!found.record.turnsOnly || checked.turn !== undefined) return redact(env, checked, found);
  // Whoever had the turn before may have written.
  return withTurn(env, { ...key, holder: 'redaction' }, async (turn) =>
    redact(env, { ...checked, turn }, await readEvent(env, checked)),
  );
}

function checkedRequest({ seq, reason, state, turn, ...key }: RedactEventRequest): CheckedRequest {
  const checked = checkedSessionKey(key);
  if (!isCount(seq) || seq === 0) throw new InvalidInputError('must be the number of an event', 'seq');
  const why = checkedReason(reason);
  turnPart({ turn });
  return { key: checked, seq, reason: why, takesState: optionalFlag(state, 'state') ?? false, turn: turn ?? undefined };
}

async function redact(
  env: SessionEnvironment,
  request: CheckedRequest,
  { record, event }: FoundEvent,
): Promise<RedactedEvent> {
  const { key, takesState, turn } = request;
  if (takesState) await removeState(env, request, event);
  const next = await whileNobodyReplaces(env.storage, key, async () => replace(env, request));
  await env.storage.search?.replace(record.incarnation, event.id, undefined);
  await commitEvent(env, { session: referenceTo(key), event: redactionNews(next), turn });
  // Now nobody can add to them: summaries of the old text are refused from here on.
  const alsoIn = await otherPlaces(env, record, event);
  return { event: next, duplicate: isRedacted(event), alsoIn };
}

async function replace(env: SessionEnvironment, request: CheckedRequest): Promise<LoggedEvent> {
  const { record, event, now } = await readEvent(env, request);
  const redacted = redactedEvent(event, redactionOf(event, { at: now, reason: request.reason }), request.takesState);
  const next = { ...redacted, seq: event.seq } as LoggedEvent;
  if (canonicalJson(next) === canonicalJson(event)) return next;
  await replaceEvents(env.storage, record, [next]);
  if (request.takesState) await replaceCheckpoints(env, record, event.seq);
  return next;
}

interface FoundEvent {
  readonly record: SessionRecord;
  readonly event: LoggedEvent;
  readonly now: number;
}

async function readEvent({ storage, holds }: SessionEnvironment, { key, seq }: CheckedRequest): Promise<FoundEvent> {
  const read = await storage.read({ key, window: { ranges: [{ from: seq, to: seq }], limit: 1 } });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  await holds.assertFree(key);
  const stored = read.events.find((event: StoredEvent) => event.seq === seq && !isTrimmed(event));
  if (stored) return { record: read.record, event: loggedEvent(stored), now: Math.floor(read.now) };
  const problem = retentionProblem(read.record, seq, 'seq');
  throw problem ?? new InvalidInputError('must be the number of an event that is kept', 'seq');
}

/** Reads what came later. The session may be gone by now. */
async function otherPlaces(
  { storage }: SessionEnvironment,
  record: SessionRecord,
  event: LoggedEvent,
): Promise<number[]> {
  const [texts, values] = [listEventTexts(event).join('\n'), valuesIn(event)];
  const found: number[] = [];
  const read = await storage.read({ key: sessionKeyOf(record) });
  if (read?.record.incarnation !== record.incarnation) return found;
  for await (const stored of readLog(storage, record, { from: event.seq + 1, to: read.record.lastSeq })) {
    if (isTrimmed(stored)) continue;
    const other = readableEvent(stored);
    const covers = coversEvent(other, event);
    const repeats = texts !== '' && listEventTexts(other).join('\n') === texts;
    const sets = values.size > 0 && [...valuesIn(other)].some(([key, value]) => values.get(key) === value);
    if (isRedacted(other) ? sets : covers || repeats || sets) found.push(other.seq);
  }
  return found;
}

function coversEvent({ actions: { compaction, branchSummary } }: LoggedEvent, { seq, branch }: LoggedEvent): boolean {
  if (branchSummary && !isOfBranch(branch, branchSummary)) return false;
  const covered = compaction ?? branchSummary;
  return covered !== undefined && covered.fromSeq <= seq && covered.toSeq >= seq;
}

function valuesIn({ actions: { stateDelta } }: LoggedEvent): Map<string, string> {
  return new Map(Object.entries(stateDelta).map(([key, value]) => [key, canonicalJson(value)]));
}

/** Values that somebody has replaced since are not those of the event. */
async function removeState(env: SessionEnvironment, { key, turn }: CheckedRequest, event: LoggedEvent): Promise<void> {
  const values = valuesIn(event);
  if (values.size === 0) return;
  await changeSession(env, { ...key, turn, config: { numRecentEvents: 0 } }, ({ state }) => {
    for (const [name, value] of values) {
      if (state.has(name) && canonicalJson(state.get(name)) === value) state.delete(name);
    }
  });
}

/** Checkpoints have the state from the event on. */
async function replaceCheckpoints({ storage }: SessionEnvironment, record: SessionRecord, seq: number): Promise<void> {
  const session = { key: sessionKeyOf(record), incarnation: record.incarnation };
  for (const seqs of inBatches(checkpointsBetween(seq, record.lastSeq))) {
    await storage.rebuild({ ...session, removeCheckpoints: seqs });
  }
  const { log, start } = await LogPoints.readBefore(storage, record, seq);
  await log.saveCheckpoints(start, record.lastSeq).catch(undefinedIfTrimmed);
}

function checkpointsBetween(from: number, to: number): number[] {
  const first = Math.ceil(from / CHECKPOINT_EVERY);
  const count = Math.max(0, Math.floor(to / CHECKPOINT_EVERY) - first + 1);
  return Array.from({ length: count }, (_, index) => (first + index) * CHECKPOINT_EVERY);
}
