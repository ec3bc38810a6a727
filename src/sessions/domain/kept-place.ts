import { InvalidInputError } from './errors.js';
import type { SessionRecord } from './session-record.js';

/** Why no rewind or fork can go to a place of a log, if none can: its events are gone, or not there yet. */
export function keptPlaceProblem(
  { firstSeq, lastSeq }: SessionRecord,
  toSeq: number,
  path: string,
): InvalidInputError | undefined {
  if (toSeq >= firstSeq - 1 && toSeq <= lastSeq) return undefined;
  return new InvalidInputError(`must lie between ${firstSeq - 1} and ${lastSeq}, the events that are kept`, path);
}
