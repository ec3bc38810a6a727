import type { AppendOutcome, Commit } from '../domain/stored/commit.js';
import { type Counters, NO_COUNTS, addCounters, countEvent, subtractCounters } from '../domain/stored/counters.js';
import { InvalidInputError, StaleSessionError } from '../domain/errors/errors.js';
import type { Event, Rewind } from '../domain/event/event.js';
import { asQuestion } from '../domain/write/repeated-commit.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import { isInRanges } from '../domain/values/seq-ranges.js';
import { type SessionRecord, retentionProblem } from '../domain/stored/session-record.js';
import { readableEvent } from '../domain/stored/damaged-event.js';
import { rewindEndsTurn } from '../domain/write/turn-rules.js';
import { marksAfterRewind, marksAfterSummary } from '../domain/stored/view-marks.js';
import { type SessionEnvironment, storeCommit } from '../session-environment.js';
import { LogPoints, readLog, undefinedIfTrimmed } from './read-log.js';

/** The parts of a commit that such an event sets. */
type ControlPart = Pick<Commit, 'marks' | 'counterIncrements' | 'preconditions' | 'endsPartials' | 'endsTurn'>;

/**
 * Appends a summary, a rewind or the news of a redaction, and the events of its batch. What it does depends on the session's current state. So it is planned from
 * a read, and planned again if another writer was faster.
 */
export async function appendControlEvent(
  env: SessionEnvironment,
  commit: Commit,
  event: Event,
): Promise<AppendOutcome> {
  const appended = await retryUndefined(async (): Promise<AppendOutcome | undefined> => {
    const read = await env.storage.read({ key: commit.key });
    if (!read) return { kind: 'missing' };
    // Objects of an older incarnation must not change this one.
    const incarnation = commit.preconditions.incarnation ?? read.record.incarnation;
    const bound = { ...commit, preconditions: { ...commit.preconditions, incarnation } };
    const problem = placeProblem(read.record, event) ?? staleProblem(read.record, commit);
    if (problem) return refusalInsteadOf(problem, env, bound);
    const part = await controlPart(env, read.record, event, bound).catch(undefinedIfTrimmed);
    if (!part) return undefined;
    const { preconditions, ...effects } = part;
    const outcome = await storeCommit(env, {
      ...bound,
      ...effects,
      counterIncrements: addCounters(part.counterIncrements, commit.counterIncrements),
      preconditions: { ...bound.preconditions, ...preconditions },
    });
    return outcome.kind === 'overtaken' ? undefined : outcome;
  });
  if (appended) return appended;
  const read = await env.storage.read({ key: commit.key });
  return read ? { kind: 'stale', lastSeq: read.record.lastSeq } : { kind: 'missing' };
}

/** Summaries and rewinds must refer to retained events. */
function placeProblem(record: SessionRecord, { actions }: Event): InvalidInputError | undefined {
  const { rewind, compaction, branchSummary } = actions;
  if (rewind) return retentionProblem(record, rewind.toSeq, '$.actions.rewind.toSeq');
  const toSeq = (compaction ?? branchSummary)?.toSeq ?? 0;
  if (toSeq <= record.lastSeq) return undefined;
  const path = `$.actions.${compaction ? 'compaction' : 'branchSummary'}.toSeq`;
  return new InvalidInputError(`must be at most ${record.lastSeq}, the last event`, path);
}

/** The view changed since the summary was made. */
function staleProblem({ marksSeq, lastSeq }: SessionRecord, { preconditions }: Commit): StaleSessionError | undefined {
  if (preconditions.marksSeq === undefined || preconditions.marksSeq === marksSeq) return undefined;
  return new StaleSessionError(preconditions.marksSeq, lastSeq);
}

/** A retry of a stored event returns it, even if its target was trimmed. So the store checks first. */
async function refusalInsteadOf(
  problem: InvalidInputError | StaleSessionError,
  { storage }: SessionEnvironment,
  commit: Commit,
): Promise<AppendOutcome> {
  const outcome = await storage.append(asQuestion(commit));
  if (outcome.kind === 'overtaken') throw problem;
  return outcome;
}

async function controlPart(
  env: SessionEnvironment,
  record: SessionRecord,
  { actions }: Event,
  commit: Commit,
): Promise<ControlPart> {
  if (actions.rewind) return { ...(await rewindPart(env, record, actions.rewind)), endsTurn: rewindEndsTurn(commit) };
  const part = { counterIncrements: NO_COUNTS, preconditions: { marksSeq: record.marksSeq } };
  // It leaves the view of the whole as it is.
  if (actions.branchSummary) return part;
  // The marks stay, but are set anew: no summary of what was said before is accepted after it.
  if (actions.redacts) return { ...part, marks: record.marks };
  const { toSeq } = actions.compaction ?? { toSeq: 0 };
  return { ...part, marks: marksAfterSummary(record.marks, toSeq, await coveredBy(toSeq, env, record)) };
}

/** Counts the few events after the summary instead of the many that it covers. */
async function coveredBy(toSeq: number, { storage }: SessionEnvironment, record: SessionRecord): Promise<Counters> {
  let left = NO_COUNTS;
  for await (const stored of readLog(storage, record, { from: toSeq + 1, to: record.lastSeq })) {
    if (!isInRanges(stored.seq, record.marks.hidden)) left = addCounters(left, countEvent(readableEvent(stored)));
  }
  return subtractCounters(record.counters, left);
}

async function rewindPart(env: SessionEnvironment, record: SessionRecord, { toSeq }: Rewind): Promise<ControlPart> {
  const log = new LogPoints(env.storage, record, env.stateLimits);
  const moment = await log.momentOf(await log.pointAt(toSeq));
  return {
    marks: marksAfterRewind(moment.marks, toSeq, record.lastSeq + 1),
    counterIncrements: subtractCounters(moment.counters, record.counters),
    // What was said after that moment is not part of the view.
    endsPartials: 'all',
    preconditions: { lastSeq: record.lastSeq, firstSeq: record.firstSeq },
  };
}
