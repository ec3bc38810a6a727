import { isAsExpected } from '../../domain/commit-rules.js';
import type { RebuildRequest } from '../rebuild.js';
import type { StoredEntry } from './session-index.js';
import { ModelSums } from './usage-sums.js';

/** Replaces what follows from the log of a session, if it is as expected. */
export function rebuildSession(
  entry: StoredEntry,
  { incarnation, lastSeq, usage, removeCheckpoints = [], anchors = [] }: RebuildRequest,
): boolean {
  if (!isAsExpected(entry.record, { incarnation, lastSeq })) return false;
  if (usage) {
    entry.usage = new ModelSums();
    entry.usage.add(usage);
  }
  entry.checkpoints = entry.checkpoints.filter(({ seq }) => !removeCheckpoints.includes(seq));
  entry.log.addAnchors(anchors);
  return true;
}
