import type { AppendOutcome, Commit } from '../domain/commit.js';
import { NO_COUNTS } from '../domain/counters.js';
import { InvalidInputError } from '../domain/errors.js';
import type { Event, Rewind } from '../domain/event.js';
import { LogReplay } from '../domain/log-replay.js';
import { marksAfterRewind, marksAfterSummary } from '../domain/marks.js';
import type { SessionRecord } from '../domain/session-record.js';
import { loggedEvent } from '../domain/view-item.js';
import type { SessionEnvironment } from '../session-environment.js';
import { readLog } from './log-reading.js';

/** What a summary or a rewind adds to the commit of its event. */
type ControlPart = Pick<Commit, 'marks' | 'counterIncrements' | 'preconditions'>;

const MAX_TRIES = 50;

/**
 * Appends a summary or a rewind: it changes what readers see, which depends on how the session stands. So
 * it is planned on what was read, and planned anew where somebody was faster.
 */
export async function appendControlEvent(
  env: SessionEnvironment,
  commit: Commit,
  event: Event,
): Promise<AppendOutcome> {
  let outcome: AppendOutcome = { kind: 'missing' };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = await env.storage.read({ key: commit.key });
    if (!read) return { kind: 'missing' };
    const { marks, counterIncrements, preconditions } = await controlPart(env, read.record, event);
    outcome = await env.storage.append({
      ...commit,
      marks,
      counterIncrements,
      preconditions: { ...commit.preconditions, ...preconditions },
    });
    if (outcome.kind !== 'overtaken') return outcome;
  }
  const read = await env.storage.read({ key: commit.key });
  return read ? { kind: 'stale', lastSeq: read.record.lastSeq } : { kind: 'missing' };
}

async function controlPart(env: SessionEnvironment, record: SessionRecord, { actions }: Event): Promise<ControlPart> {
  if (actions.rewind) return rewindPart(env, record, actions.rewind);
  const { toSeq } = actions.compaction ?? { toSeq: 0 };
  if (toSeq > record.lastSeq) {
    throw new InvalidInputError(`must be at most ${record.lastSeq}, the last event`, '$.actions.compaction.toSeq');
  }
  return {
    marks: marksAfterSummary(record.marks, toSeq),
    counterIncrements: NO_COUNTS,
    preconditions: { incarnation: record.incarnation, marksSeq: record.marksSeq },
  };
}

async function rewindPart(env: SessionEnvironment, record: SessionRecord, { toSeq }: Rewind): Promise<ControlPart> {
  if (toSeq < record.firstSeq - 1 || toSeq > record.lastSeq) {
    throw new InvalidInputError(
      `must lie between ${record.firstSeq - 1} and ${record.lastSeq}, the events that are kept`,
      '$.actions.rewind.toSeq',
    );
  }
  const replay = new LogReplay();
  for await (const stored of readLog(env.storage, record, { from: record.firstSeq, to: record.lastSeq })) {
    replay.add(loggedEvent(stored));
  }
  return {
    marks: marksAfterRewind(replay.marksAt(toSeq), toSeq, record.lastSeq + 1),
    counterIncrements: replay.countsFromNowTo(toSeq),
    preconditions: { incarnation: record.incarnation, lastSeq: record.lastSeq },
  };
}
