import type { Commit } from '../stored/commit.js';

/** No log ends here, so a commit with this precondition is always refused, by the first check that fails. */
const NO_SEQ = -1;

/**
 * A commit that only asks whether its events are stored: `seen` if the log has some, and refused otherwise. It is never written, because
 * stored events come before all preconditions (`findCommitRefusal`), and one of its preconditions never holds.
 *
 * @example
 * const outcome = await storage.append(asQuestion(commit));
 * if (outcome.kind !== 'seen') throw refusal;
 */
export function asQuestion(commit: Commit): Commit {
  return { ...commit, preconditions: { ...commit.preconditions, lastSeq: NO_SEQ } };
}
