import { eventsBytes } from '../domain/stored/byte-budget.js';
import { CHECKPOINT_EVERY } from '../domain/history/checkpoint.js';
import type { StoredEvent } from '../domain/stored/commit.js';
import { SessionExistsError, SessionNotFoundError } from '../domain/errors/errors.js';
import { isRewind } from '../domain/event/event-inspection.js';
import { type Fork, ForkedLog } from '../domain/history/forked-log.js';
import { type SessionKey, assertId, checkedSessionKey, isBlank } from '../domain/values/ids.js';
import { type InitialLog, type SessionRecord, retentionProblem } from '../domain/stored/session-record.js';
import type { LoadedConversation } from '../domain/view/loaded-view.js';
import type { MetadataText } from '../domain/metadata/metadata-entries.js';
import { optionalCount } from '../domain/values/input-checks.js';
import { type SeqRange, isInRanges, rangesOutside } from '../domain/values/seq-ranges.js';
import type { Session } from '../domain/session/session.js';
import { stateDifference } from '../domain/history/state-history.js';
import { loggedEvent, stateWrites } from '../domain/stored/stored-json.js';
import { ownRecord } from '../storage/state-entries.js';
import { viewItemOf } from '../domain/view/view-item.js';
import type { ViewMarks } from '../domain/stored/view-marks.js';
import { type SessionEnvironment, announce, isReadShorter, readFilter } from '../session-environment.js';
import { getSession } from './get-session.js';
import { SessionOpener, createWithinQuotas } from './create-session.js';
import { LogPoints, fromStableLog } from './read-log.js';
import { cutReadView } from './read-view.js';
import { saveCheckpoints } from './complete-append.js';
import { type ServerStateCheck, serverKeysIn, serverStateEvent } from './server-only-changes.js';

/** The session to fork, and the moment. */
export interface ForkSessionRequest extends SessionKey {
  /** Fork the session as it was when this event was the last one. Default: as it is now. */
  readonly atSeq?: number | undefined;
  /** Generated if missing or blank. */
  readonly newSessionId?: string | undefined;
  /**
   * Asked with the `serverOnly` keys that had other values at that moment than now, and throws to refuse the fork. Without it,
   * the fork has the values of now.
   */
  readonly onServerState?: ServerStateCheck | undefined;
}

/** Creates a session from the view and the state of another one at a moment. */
export async function forkSession(env: SessionEnvironment, request: ForkSessionRequest): Promise<Session> {
  const key = checkedSessionKey(request);
  const atSeq = optionalCount(request.atSeq, 'atSeq');
  const newId = isBlank(request.newSessionId) ? env.newId() : request.newSessionId;
  assertId(newId, 'newSessionId');

  const { log, baseState, state, metadata, turnsOnly, present, textHashes } = await readFork(env, key, atSeq, {
    keepsServerState: !request.onServerState,
  });
  const serverState = serverKeysIn(stateDifference(present, state), env, key.appName);
  if (serverState.length > 0) await request.onServerState?.(serverState);
  const { upserts } = stateWrites({ stateDelta: state, stateRemovals: [] });
  const newKey = { ...key, sessionId: newId };
  const start = { baseState, upserts, metadata, log, turnsOnly };
  const limits = { expiry: env.lifetimes, maxStateBytes: env.stateLimits };
  const stored = await createWithinQuotas(env, { key: newKey, ...start, ...limits });
  if (!stored) throw new SessionExistsError(newId);
  await env.requestTexts.copy(key, newKey, textHashes, stored.record.incarnation);
  announce(env, newKey);
  const saving = saveCheckpoints(env, stored.record, log.events.length);
  if (saving) env.tasks.trackInBackground(saving);
  // A read would truncate the view, so return that.
  if (eventsBytes(log.events) > env.limits.maxViewBytes) return (await getSession(env, newKey)) ?? notThere(newId);
  const { view, source } = cutReadView(stored, wholeConversation(log), readFilter(env), {
    config: {},
    isForOneRead: isReadShorter(env),
  });
  return new SessionOpener(env.storage).open(stored, view, source);
}

function notThere(sessionId: string): never {
  throw new SessionNotFoundError(sessionId);
}

/** Metadata describes the session, not a moment, so a fork of any moment gets the current one. */
interface ForkedSession extends Fork, Pick<SessionRecord, 'turnsOnly'> {
  readonly metadata: MetadataText | undefined;
  /** The source's own state as it is now, if keys are defined. */
  readonly present: Record<string, unknown>;
}

async function readFork(
  env: SessionEnvironment,
  key: SessionKey,
  atSeq: number | undefined,
  { keepsServerState }: { readonly keepsServerState: boolean },
): Promise<ForkedSession> {
  const withState = env.stateDefinitions !== undefined;
  return fromStableLog(async () => {
    const read = await env.storage.read({ key, withMetadata: true, withState, maxStateBytes: env.stateLimits });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const { record, metadata } = read;
    const moment = atSeq ?? record.lastSeq;
    const problem = retentionProblem(record, moment, 'atSeq');
    if (problem) throw problem;
    const present = ownRecord(read.state?.session);
    const lastAfter = (state: Record<string, unknown>): StoredEvent | undefined =>
      keepsServerState ? serverStateEvent(env, key.appName, stateDifference(state, present)) : undefined;
    // Concurrent appends come after the moment, so only trimming can interfere.
    const fork = await copyLog(env, record, moment, lastAfter);
    return { ...fork, metadata, turnsOnly: record.turnsOnly, present };
  });
}

/** Shorter ranges are read as a whole. */
const SKIPPED_AT_LEAST = CHECKPOINT_EVERY;

/** Reads the events to copy, and of long ranges between them only the state after them. */
async function copyLog(
  { storage, stateLimits }: SessionEnvironment,
  record: SessionRecord,
  moment: number,
  lastAfter: Parameters<ForkedLog['finish']>[0],
): Promise<Fork> {
  const log = new LogPoints(storage, record, stateLimits);
  const marks = moment === record.lastSeq ? record.marks : (await log.momentOf(await log.pointAt(moment))).marks;
  const { firstSeq } = record;
  const start = await log.pointAt(firstSeq - 1);
  const forked = new ForkedLog(start.fold, marks);
  let next = firstSeq;
  const visible = rangesOutside({ from: Math.max(firstSeq, marks.viewFromSeq + 1), to: moment }, marks.hidden);
  for (const copied of [...visible, { from: moment + 1, to: moment }]) {
    const between = { from: next, to: copied.from - 1 };
    if (copied.from - next < SKIPPED_AT_LEAST) {
      for await (const stored of log.read(between)) forked.add(stored);
    } else {
      const { fold } = await log.pointAt(between.to);
      forked.skip(fold, forked.hasCopies ? await lastRewindIn(between, log, marks) : undefined);
    }
    for await (const stored of log.read(copied)) forked.add(stored);
    next = copied.to + 1;
  }
  return forked.finish(lastAfter);
}

/** Each hidden range ends with a rewind, or is a summary. */
async function lastRewindIn(
  { from, to }: SeqRange,
  log: LogPoints,
  { hidden }: ViewMarks,
): Promise<StoredEvent | undefined> {
  const ends = hidden.map((range) => range.to).filter((seq) => seq >= from && seq <= to);
  for (const seq of ends.toSorted((a, b) => b - a)) {
    for await (const stored of log.read({ from: seq, to: seq })) if (isRewind(loggedEvent(stored))) return stored;
  }
  return undefined;
}

/** The complete conversation of the fork. */
function wholeConversation({ events, marks: { hidden, summarySeq } }: InitialLog): LoadedConversation {
  const items = events.flatMap(({ payload, appendedAt }, index) => {
    const seq = index + 1;
    return isInRanges(seq, hidden) ? [] : [viewItemOf(loggedEvent({ payload, seq }), appendedAt)];
  });
  const summary = items.find(({ event }) => event.seq === summarySeq);
  return {
    conversation: { summary, items: items.filter((item) => item !== summary), hasOlder: false },
    unread: [],
  };
}
