import { InvalidInputError } from '../domain/errors.js';
import type { SessionRecord } from '../domain/session-record.js';

/** Why a session cannot be taken back to a place, if it cannot: its events are gone, or not there yet. */
export function rewindPlaceProblem(
  { firstSeq, lastSeq }: SessionRecord,
  toSeq: number,
  path: string,
): InvalidInputError | undefined {
  if (toSeq >= firstSeq - 1 && toSeq <= lastSeq) return undefined;
  return new InvalidInputError(`must lie between ${firstSeq - 1} and ${lastSeq}, the events that are kept`, path);
}
