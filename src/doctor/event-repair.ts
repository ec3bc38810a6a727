import { DEFAULT_LIMITS } from '../config/session-settings.js';
import { systemClock } from '../sessions/domain/process/clock.js';
import { randomId } from '../sessions/domain/values/ids.js';
import { insteadOf } from '../sessions/domain/stored/damaged-event.js';
import type { EventActionsInput } from '../sessions/domain/event/event.js';
import { metadataEntries } from '../sessions/domain/metadata/metadata-entries.js';
import { metadataDeltaOf } from '../sessions/domain/metadata/metadata.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { type StateFold, stateDifference } from '../sessions/domain/history/state-history.js';
import { ownRecord } from '../sessions/storage/state-entries.js';
import { submitEvent } from '../sessions/domain/write/submitted-event.js';
import type { EventText } from '../sessions/storage/rebuild.js';
import type { StoredSession } from '../sessions/storage/session-storage.js';
import { metadataDifference } from './compare.js';
import { comparableMarks, livePathOf, computeViewMarks } from './live-path.js';
import type { LogCheck } from './log-check.js';

/** The event restores what other events said, however much that is. */
export const NO_LIMITS = { ...DEFAULT_LIMITS, maxEventBytes: Infinity, maxDepth: Infinity, maxDeltaKeys: Infinity };

/**
 * Texts for damaged events, with which the log is whole again. The last one sets what the session has and no other event says,
 * so that state and metadata stay as they are. `undefined` if events are missing or altered, if the state is too large to be known, or if a damaged one was a summary
 * or a rewind that counts: the record does not tell enough about those.
 */
export function textsForDamaged(stored: StoredSession, fold: LogCheck): readonly EventText[] | undefined {
  const { damaged, state } = fold;
  if (!state || !fold.isWholeBesideDamaged || !hasAllControls(stored.record, fold)) return undefined;
  return damaged.map((event, index) => {
    const instead = {
      ...insteadOf(event),
      ...(index === damaged.length - 1 && { actions: unexplained(stored, fold, state) }),
      customMetadata: { repaired: ['EVENT_UNREADABLE'] },
    };
    const {
      event: { id },
      payload,
    } = submitEvent(instead, { limits: NO_LIMITS, clock: systemClock, newId: randomId });
    return { seq: event.seq, id, payload };
  });
}

/** Whether the summaries and rewinds that can be read are all that the record knows of. */
function hasAllControls({ firstSeq, lastSeq, marks }: SessionRecord, { controls }: LogCheck): boolean {
  const found = computeViewMarks(controls, livePathOf(controls, { from: firstSeq, to: lastSeq }));
  return comparableMarks({ ...found, covered: marks.covered }) === comparableMarks(marks);
}

/** What state and metadata have beside what events say. */
function unexplained({ state, metadata = '' }: StoredSession, fold: LogCheck, built: StateFold): EventActionsInput {
  const { stateDelta, stateRemovals } = stateDifference(built.toRecord(), ownRecord(state?.session));
  const entries = metadataEntries(metadata);
  const names = metadataDifference(metadata, fold).map(([name]) => [name, entries.get(name) ?? null] as const);
  return {
    stateDelta,
    stateRemovals: [...stateRemovals],
    ...(names.length > 0 && { metadataDelta: metadataDeltaOf(names) }),
  };
}
