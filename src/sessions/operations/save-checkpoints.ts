import { CHECKPOINT_EVERY, checkpointText, seqOfNext } from '../domain/checkpoint.js';
import { SessionNotFoundError } from '../domain/errors.js';
import { sessionKeyOf } from '../domain/ids.js';
import type { SessionRecord } from '../domain/session-record.js';
import type { SessionEnvironment } from '../session-environment.js';
import { LogPoints, TrimmedMeanwhile } from './log-point.js';

/**
 * Derives checkpoints from the events since the last one, once in {@link CHECKPOINT_EVERY} events. If that fails, the
 * next time makes up for it.
 *
 * @param appended the number of events that the last commit added
 */
export function saveCheckpoints(
  env: SessionEnvironment,
  record: SessionRecord,
  appended: number,
): Promise<void> | undefined {
  return record.lastSeq % CHECKPOINT_EVERY < appended ? save(env, record).catch(ignoreGone) : undefined;
}

async function save({ storage }: SessionEnvironment, record: SessionRecord): Promise<void> {
  const key = sessionKeyOf(record);
  const read = await storage.read({ key });
  if (read?.record.incarnation !== record.incarnation) return;
  const log = new LogPoints(storage, read.record);
  let start = await log.startBefore(record.lastSeq);
  for (let seq = seqOfNext(start); seq <= record.lastSeq; seq = seqOfNext(start)) {
    const point = await log.pointAfter(start, seq);
    const moment = await log.momentOf(point);
    const derived = { ...moment, state: point.fold.toRecord(), shared: point.fold.toShared() };
    const text = checkpointText(derived);
    await storage.saveCheckpoint({ key, incarnation: record.incarnation, seq, text });
    start = { ...derived, bytes: Buffer.byteLength(text) };
  }
}

/** Without these events, or without the session, there is nothing to save. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof TrimmedMeanwhile) && !(error instanceof SessionNotFoundError)) throw error;
}
