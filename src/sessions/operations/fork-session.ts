import { SessionExistsError, SessionNotFoundError, StaleSessionError } from '../domain/errors.js';
import { type Fork, ForkedLog } from '../domain/forked-log.js';
import { type SessionKey, assertId, checkedSessionKey, isBlank } from '../domain/ids.js';
import type { InitialLog } from '../domain/initial-log.js';
import { keptPlaceProblem } from '../domain/kept-place.js';
import { LogReplay } from '../domain/log-replay.js';
import type { Marks } from '../domain/marks.js';
import { optionalCount } from '../domain/optional-count.js';
import { isInRanges } from '../domain/seq-ranges.js';
import type { Session } from '../domain/session.js';
import type { SessionRecord } from '../domain/session-record.js';
import { stateWrites } from '../domain/stored-state.js';
import { loggedEvent } from '../domain/logged-event.js';
import { type ViewItem, viewItemOf } from '../domain/view-item.js';
import { filterView } from '../domain/view.js';
import { type SessionEnvironment, announce, lifetimes, readFilter } from '../session-environment.js';
import { readLog } from './log-reading.js';
import { openSession } from './open-session.js';

/** Which session to fork, and at which moment. */
export interface ForkSessionRequest extends SessionKey {
  /** The session as it was when this event was its last one; as it is now unless given. */
  readonly atSeq?: number | undefined;
  /** Blank or left out: one is generated. */
  readonly newSessionId?: string | undefined;
}

/** How often a log is read anew because its beginning was trimmed meanwhile. */
const MAX_TRIES = 50;

/** Makes a new session of what another one showed at a moment, with the state it had then. */
export async function forkSession(env: SessionEnvironment, request: ForkSessionRequest): Promise<Session> {
  const key = checkedSessionKey(request);
  const atSeq = optionalCount(request.atSeq, 'atSeq');
  const newId = isBlank(request.newSessionId) ? env.newId() : request.newSessionId;
  assertId(newId, 'newSessionId');

  const { log, baseState, state } = await readFork(env, key, atSeq);
  const { upserts } = stateWrites({ stateDelta: state, stateRemovals: [] });
  const newKey = { ...key, sessionId: newId };
  const stored = await env.storage.create({ key: newKey, baseState, upserts, expiry: lifetimes(env), log });
  if (!stored) throw new SessionExistsError(newId);
  announce(env, newKey);
  const items = viewItems(log);
  return openSession(stored, filterView(items, readFilter(env), stored.now), { items });
}

async function readFork(env: SessionEnvironment, key: SessionKey, atSeq: number | undefined): Promise<Fork> {
  let lastSeq = 0;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = await env.storage.read({ key, withBase: true });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const { record, baseState = '{}' } = read;
    const moment = atSeq ?? record.lastSeq;
    const problem = keptPlaceProblem(record, moment, 'atSeq');
    if (problem) throw problem;
    const marks = moment === record.lastSeq ? record.marks : await marksAt(env, record, moment);
    const forked = new ForkedLog(baseState, marks);
    let missing = moment - record.firstSeq + 1;
    // What is appended meanwhile lies beyond the moment, so only trimming can be in the way.
    for await (const stored of readLog(env.storage, record, { from: record.firstSeq, to: moment })) {
      forked.add(stored);
      missing--;
    }
    if (missing === 0) return forked.finish();
    lastSeq = record.lastSeq;
  }
  throw new StaleSessionError(atSeq ?? lastSeq, lastSeq);
}

/** Where something is trimmed while it is read, these marks are never used. */
async function marksAt(env: SessionEnvironment, record: SessionRecord, moment: number): Promise<Marks> {
  const replay = new LogReplay();
  for await (const stored of readLog(env.storage, record, { from: record.firstSeq, to: moment })) {
    replay.add(loggedEvent(stored));
  }
  return replay.marksAt(moment);
}

/** All that a reader of the fork could be shown. */
function viewItems({ events, marks: { hidden } }: InitialLog): ViewItem[] {
  return events.flatMap(({ payload, appendedAt }, index) => {
    const seq = index + 1;
    return isInRanges(seq, hidden) ? [] : [viewItemOf(loggedEvent({ payload, seq }), appendedAt)];
  });
}
