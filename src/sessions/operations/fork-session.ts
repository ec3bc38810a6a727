import { eventBytes } from '../domain/byte-budget.js';
import { SessionExistsError, SessionNotFoundError, StaleSessionError } from '../domain/errors.js';
import { type Fork, ForkedLog } from '../domain/forked-log.js';
import { type SessionKey, assertId, checkedSessionKey, isBlank } from '../domain/ids.js';
import type { InitialLog } from '../domain/initial-log.js';
import type { LoadedConversation } from '../domain/loaded-view.js';
import { LogReplay } from '../domain/log-replay.js';
import type { MetadataText } from '../domain/metadata-entries.js';
import { optionalCount } from '../domain/optional-count.js';
import { isInRanges } from '../domain/seq-ranges.js';
import { type SessionRecord, retentionProblem } from '../domain/session-record.js';
import type { Session } from '../domain/session.js';
import { loggedEvent, stateWrites } from '../domain/stored-json.js';
import { viewItemOf } from '../domain/view-item.js';
import type { ViewMarks } from '../domain/view-marks.js';
import { type SessionEnvironment, announce, isReadShorter, lifetimes, readFilter } from '../session-environment.js';
import { getSession } from './get-session.js';
import { openSession } from './open-session.js';
import { readLog } from './read-log.js';
import { viewOf } from './read-view.js';

/** The session to fork, and the moment. */
export interface ForkSessionRequest extends SessionKey {
  /** Fork the session as it was when this event was the last one. Default: as it is now. */
  readonly atSeq?: number | undefined;
  /** Generated if missing or blank. */
  readonly newSessionId?: string | undefined;
}

/** How often the log is read again because it was trimmed meanwhile. */
const MAX_TRIES = 50;

/** Creates a session from the view and the state of another one at a moment. */
export async function forkSession(env: SessionEnvironment, request: ForkSessionRequest): Promise<Session> {
  const key = checkedSessionKey(request);
  const atSeq = optionalCount(request.atSeq, 'atSeq');
  const newId = isBlank(request.newSessionId) ? env.newId() : request.newSessionId;
  assertId(newId, 'newSessionId');

  const { log, baseState, state, metadata, turnsOnly } = await readFork(env, key, atSeq);
  const { upserts } = stateWrites({ stateDelta: state, stateRemovals: [] });
  const newKey = { ...key, sessionId: newId };
  const start = { baseState, upserts, metadata, log, turnsOnly };
  const stored = await env.storage.create({ key: newKey, ...start, expiry: lifetimes(env) });
  if (!stored) throw new SessionExistsError(newId);
  announce(env, newKey);
  // A read would truncate the view, so return that.
  if (bytesOf(log) > env.limits.maxViewBytes) return (await getSession(env, newKey)) ?? notThere(newId);
  const { view, source } = viewOf(stored, wholeConversation(log), readFilter(env), {
    config: {},
    isForOneRead: isReadShorter(env),
  });
  return openSession(stored, view, source);
}

function bytesOf({ events }: InitialLog): number {
  return events.reduce((sum, event) => sum + eventBytes(event), 0);
}

function notThere(sessionId: string): never {
  throw new SessionNotFoundError(sessionId);
}

/** Metadata describes the session, not a moment, so a fork of any moment gets the current one. */
interface ForkedSession extends Fork, Pick<SessionRecord, 'turnsOnly'> {
  readonly metadata: MetadataText | undefined;
}

async function readFork(env: SessionEnvironment, key: SessionKey, atSeq: number | undefined): Promise<ForkedSession> {
  let lastSeq = 0;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = await env.storage.read({ key, withBase: true, withMetadata: true });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const { record, metadata, baseState = '{}' } = read;
    const moment = atSeq ?? record.lastSeq;
    const problem = retentionProblem(record, moment, 'atSeq');
    if (problem) throw problem;
    const marks = moment === record.lastSeq ? record.marks : await marksAt(env, record, moment);
    const forked = new ForkedLog(baseState, marks);
    let missing = moment - record.firstSeq + 1;
    // Concurrent appends come after the moment, so only trimming can interfere.
    for await (const stored of readLog(env.storage, record, { from: record.firstSeq, to: moment })) {
      forked.add(stored);
      missing--;
    }
    if (missing === 0) return { ...forked.finish(), metadata, turnsOnly: record.turnsOnly };
    lastSeq = record.lastSeq;
  }
  throw new StaleSessionError(atSeq ?? lastSeq, lastSeq);
}

/** If the log is trimmed meanwhile, the caller retries and discards these marks. */
async function marksAt(env: SessionEnvironment, record: SessionRecord, moment: number): Promise<ViewMarks> {
  const replay = new LogReplay();
  for await (const stored of readLog(env.storage, record, { from: record.firstSeq, to: moment })) {
    replay.add(loggedEvent(stored));
  }
  return replay.marksAt(moment);
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
