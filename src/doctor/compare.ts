import { COUNTERS, type Counters } from '../sessions/domain/counters.js';
import { canonicalJson } from '../sessions/domain/event-digest.js';
import type { SessionRecord } from '../sessions/domain/session-record.js';
import { type StateChanges, hasChanges } from '../state/state-changes.js';
import { stateDifference } from '../sessions/domain/state-history.js';
import { stateRecord } from '../sessions/domain/stored-json.js';
import { NO_USAGE, USAGE_COUNTS, type ModelUsage, type TokenUsage } from '../sessions/domain/usage.js';
import type { ViewMarks } from '../sessions/domain/view-marks.js';
import type { StateEntries, StoredCheckpoint } from '../sessions/storage/session-storage.js';
import { storedCheckpoint } from '../sessions/domain/checkpoint.js';
import type { Note } from './findings.js';
import { comparableMarks } from './live-path.js';
import type { LogFold } from './log-fold.js';

/** What a session should be, by its log. */
export interface Expected {
  readonly state: Record<string, unknown>;
  /** Unknown if the beginning of the log was trimmed. */
  readonly counters?: Counters | undefined;
  readonly marks?: ViewMarks | undefined;
}

/** How the stored session differs from what it should be. */
export interface Differences {
  readonly notes: readonly Note[];
  /** The changes that make the stored state right. */
  readonly changes: StateChanges;
}

/** Compares the stored state, counters and marks of a session with those that follow from its log. */
export function differences(record: SessionRecord, stored: StateEntries, expected: Expected): Differences {
  const changes = stateDifference(stateRecord(stored, 'session'), expected.state);
  const notes: Note[] = [];
  if (hasChanges(changes)) {
    const wrong = Object.keys(changes.stateDelta).length;
    const detail = `${wrong} keys lack their value, and ${changes.stateRemovals.length} should not exist`;
    notes.push({ code: 'STATE_DIFFERS', detail });
  }
  const { counters, marks } = expected;
  const wrong = counters ? COUNTERS.filter((name) => record.counters[name] !== counters[name]) : [];
  if (counters && wrong.length > 0) {
    const parts = wrong.map((name) => `${name} is ${record.counters[name]} instead of ${counters[name]}`);
    notes.push({ code: 'COUNTERS_DIFFER', detail: parts.join(', ') });
  }
  if (marks && comparableMarks(marks) !== comparableMarks(record.marks)) {
    const { summarySeq, viewFromSeq, hidden } = record.marks;
    const detail =
      `the record has the summary ${summarySeq}, a view from ${viewFromSeq} and ${hidden.length} hidden ranges; ` +
      `the log has ${marks.summarySeq}, ${marks.viewFromSeq} and ${marks.hidden.length}`;
    notes.push({ code: 'MARKS_DIFFER', detail });
  }
  return { notes, changes };
}

/** Compares the rest of the record with the log. */
export function recordNotes(record: SessionRecord, fold: LogFold): Note[] {
  const lastControl = fold.controls.at(-1)?.seq ?? 0;
  const problems = [
    fold.tipSeq > 0 && record.tipSeq !== fold.tipSeq && `tipSeq is ${record.tipSeq} instead of ${fold.tipSeq}`,
    record.highWater < fold.highWater && `highWater is ${record.highWater}, below ${fold.highWater}`,
    record.lastUpdateTime < fold.lastUpdateTime && `lastUpdateTime is before the last event`,
    record.marksSeq < lastControl && `marksSeq is ${record.marksSeq}, below ${lastControl}`,
  ].filter((problem) => problem !== false);
  return problems.length > 0 ? [{ code: 'RECORD_DIFFERS', detail: problems.join(', ') }] : [];
}

/** Compares stored tokens with those of the events. Without the trimmed events only the least is known. */
export function usageNotes(stored: readonly ModelUsage[], fold: LogFold, isTrimmed: boolean): Note[] {
  const { least, most } = fold.usage;
  const models = [...new Set([...stored, ...most].map(({ model }) => model))];
  return models.flatMap((model) => {
    const is = tokensOf(stored, model);
    const low = USAGE_COUNTS.filter((name) => is[name] < tokensOf(least, model)[name]);
    const high = isTrimmed ? [] : USAGE_COUNTS.filter((name) => is[name] > tokensOf(most, model)[name]);
    const detail = (names: readonly string[]): string => `${names.join(', ')} of ${JSON.stringify(model)}`;
    return [
      ...(low.length > 0 ? [{ code: 'USAGE_TOO_LOW' as const, detail: detail(low) }] : []),
      ...(high.length > 0 ? [{ code: 'USAGE_TOO_HIGH' as const, detail: detail(high) }] : []),
    ];
  });
}

function tokensOf(usage: readonly ModelUsage[], model: string): TokenUsage {
  return usage.find((one) => one.model === model) ?? NO_USAGE;
}

/** Compares a stored checkpoint with the state after its event. */
export function checkpointNotes(stored: StoredCheckpoint, record: SessionRecord, fold: LogFold): Note[] {
  const { seq } = stored;
  try {
    const { state } = storedCheckpoint(stored, record);
    if (canonicalJson(state) === canonicalJson(fold.state.toRecord())) return [];
  } catch {
    return [{ code: 'CHECKPOINT_DIFFERS', detail: `the checkpoint at ${seq} cannot be read` }];
  }
  return [{ code: 'CHECKPOINT_DIFFERS', detail: `the checkpoint at ${seq} has another state than the log` }];
}
