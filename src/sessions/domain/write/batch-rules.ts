import type { SessionLimits } from '../../../config/session-settings.js';
import type { StateChanges } from '../../../state/state-changes.js';
import { InvalidInputError, LimitExceededError } from '../errors/errors.js';
import { isAnySummary, isRewind, isSummary } from '../event/event-inspection.js';
import type { SubmittedEvent } from './submitted-event.js';

/** A validated event of a batch, and its place in the input. */
interface BatchEvent {
  readonly submitted: SubmittedEvent;
  readonly path: string;
}

/** Refuses events that cannot be appended together. A single event always can. */
export function assertBatch(
  events: readonly BatchEvent[],
  limits: Pick<SessionLimits, 'maxBatchBytes' | 'maxBatchDeltaKeys'>,
): void {
  if (events.length < 2) return;
  assertDifferentIds(events);
  for (const [index, { submitted, path }] of events.entries()) assertAppendableTogether(submitted, path, index);
  assertWithin(limits.maxBatchBytes, 'bytes', events, ({ payload }) => Buffer.byteLength(payload));
  assertWithin(
    limits.maxBatchDeltaKeys,
    'state keys',
    events,
    ({ changes, temp }) => countStateKeys(changes) + countStateKeys(temp),
  );
}

function assertDifferentIds(events: readonly BatchEvent[]): void {
  const paths = new Map<string, string>();
  for (const { submitted, path } of events) {
    const { id } = submitted.event;
    const other = paths.get(id);
    if (other !== undefined) throw new InvalidInputError(`is also the id of ${other}`, `${path}.id`);
    paths.set(id, path);
  }
}

/**
 * What a summary or a rewind does depends on the log at that moment. A rewind may begin a batch, so that other events replace
 * what it hides in one commit. A summary has its own commit.
 */
function assertAppendableTogether({ event }: SubmittedEvent, path: string, index: number): void {
  if (isAnySummary(event)) {
    const action = isSummary(event) ? 'compaction' : 'branchSummary';
    throw new InvalidInputError('a summary must be appended alone, not in a batch', `${path}.actions.${action}`);
  }
  if (isRewind(event) && index > 0) {
    throw new InvalidInputError('a rewind must be the first event of a batch', `${path}.actions.rewind`);
  }
}

/** The error names the first event that does not fit. */
function assertWithin(
  most: number,
  unit: string,
  events: readonly BatchEvent[],
  sizeOf: (submitted: SubmittedEvent) => number,
): void {
  let sum = 0;
  for (const { submitted, path } of events) {
    sum += sizeOf(submitted);
    if (sum <= most) continue;
    throw new LimitExceededError(`the batch has ${sum} ${unit} up to here; at most ${most} are allowed`, path);
  }
}

function countStateKeys({ stateDelta, stateRemovals }: StateChanges): number {
  return Object.keys(stateDelta).length + stateRemovals.length;
}
