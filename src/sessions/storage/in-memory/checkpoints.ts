import type { StoredCheckpoint, StoredSession } from '../session-storage.js';
import type { StoredEntry } from './session-index.js';

/** The newest checkpoint at or before an event. */
export function checkpointOf({ checkpoints }: StoredEntry, seq: number): Pick<StoredSession, 'checkpoint'> {
  const checkpoint = checkpoints.findLast((one) => one.seq <= seq);
  return checkpoint ? { checkpoint } : {};
}

/** Keeps a checkpoint, unless there is one of this event. */
export function keepCheckpoint({ checkpoints }: StoredEntry, { seq, text }: StoredCheckpoint): void {
  const index = checkpoints.findLastIndex((other) => other.seq <= seq);
  if (checkpoints[index]?.seq !== seq) checkpoints.splice(index + 1, 0, { seq, text });
}
