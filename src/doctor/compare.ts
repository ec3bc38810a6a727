import {
  type MetadataChange,
  type MetadataText,
  metadataEntries,
} from '../sessions/domain/metadata/metadata-entries.js';
import { COUNTERS, type Counters } from '../sessions/domain/stored/counters.js';
import { canonicalJson } from '../sessions/domain/values/canonical-json.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { NO_CHANGES, type StateChanges, hasChanges } from '../state/state-changes.js';
import { stateDifference } from '../sessions/domain/history/state-history.js';
import {
  MOST_MODELS_OF_SESSION,
  type ModelUsage,
  NO_USAGE,
  type TokenUsage,
  UNKNOWN_MODEL,
  USAGE_COUNTS,
  usageByModel,
  usageWith,
} from '../sessions/domain/usage/usage.js';
import type { ViewMarks } from '../sessions/domain/stored/view-marks.js';
import { ownRecord } from '../sessions/storage/state-entries.js';
import type { OwnState, StoredCheckpoint } from '../sessions/storage/session-storage.js';
import { storedCheckpoint } from '../sessions/domain/history/checkpoint.js';
import type { Note } from './findings.js';
import { comparableMarks } from './live-path.js';
import type { LogCheck } from './log-check.js';

/** What a session should be, by its log. */
export interface Expected {
  /** Unknown if it is too large. */
  readonly state: Record<string, unknown> | undefined;
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
export function differences(record: SessionRecord, stored: OwnState, expected: Expected): Differences {
  const { counters, marks, state } = expected;
  const changes = state ? stateDifference(ownRecord(stored), state) : NO_CHANGES;
  const notes: Note[] = [];
  if (hasChanges(changes)) {
    const wrong = Object.keys(changes.stateDelta).length;
    const detail = `${wrong} keys lack their value, and ${changes.stateRemovals.length} should not exist`;
    notes.push({ code: 'STATE_DIFFERS', detail });
  }
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
export function recordNotes(record: SessionRecord, fold: LogCheck): Note[] {
  const lastControl = fold.controls.at(-1)?.seq ?? 0;
  const problems = [
    fold.tipSeq > 0 && record.tipSeq !== fold.tipSeq && `tipSeq is ${record.tipSeq} instead of ${fold.tipSeq}`,
    record.highWater < fold.highWater && `highWater is ${record.highWater}, below ${fold.highWater}`,
    record.lastUpdateTime < fold.lastUpdateTime && `lastUpdateTime is before the last event`,
    record.marksSeq < lastControl && `marksSeq is ${record.marksSeq}, below ${lastControl}`,
  ].filter((problem) => problem !== false);
  return problems.length > 0 ? [{ code: 'RECORD_DIFFERS', detail: problems.join(', ') }] : [];
}

/** The changes that make the metadata what the events last said about it. They say nothing about the initial one. */
export function metadataDifference(stored: MetadataText, fold: LogCheck): MetadataChange[] {
  const entries = metadataEntries(stored);
  return [...fold.metadata].filter(([name, value]) => !isSameJson(entries.get(name) ?? null, value));
}

function isSameJson(a: string | null, b: string | null): boolean {
  return a === b || (a !== null && b !== null && canonicalJson(parsed(a)) === canonicalJson(parsed(b)));
}

/** A damaged text is like no other. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { damaged: text };
  }
}

/** Compares stored tokens with those of the events. Without the trimmed events only the least is known. */
export function usageNotes(stored: readonly ModelUsage[], fold: LogCheck, isTrimmed: boolean): Note[] {
  const { least, most } = usageNamedAs(stored, fold);
  const models = [...new Set([...stored, ...most].map(({ model }) => model))];
  return models.flatMap((model) => {
    const is = findModelTokens(stored, model);
    const low = USAGE_COUNTS.filter((name) => is[name] < findModelTokens(least, model)[name]);
    const high = isTrimmed ? [] : USAGE_COUNTS.filter((name) => is[name] > findModelTokens(most, model)[name]);
    const detail = (names: readonly string[]): string => `${names.join(', ')} of ${JSON.stringify(model)}`;
    return [
      ...(low.length > 0 ? [{ code: 'USAGE_TOO_LOW' as const, detail: detail(low) }] : []),
      ...(high.length > 0 ? [{ code: 'USAGE_TOO_HIGH' as const, detail: detail(high) }] : []),
    ];
  });
}

/** The sums that the events allow, as near to the stored ones as possible. */
export function rightUsage(stored: readonly ModelUsage[], fold: LogCheck, isTrimmed: boolean): ModelUsage[] {
  const { least, most } = usageNamedAs(stored, fold);
  const models = [...new Set([...stored, ...most].map(({ model }) => model))].sort();
  return models
    .map((model) => {
      const [is, low, high] = [
        findModelTokens(stored, model),
        findModelTokens(least, model),
        findModelTokens(most, model),
      ];
      const right = (name: keyof TokenUsage): number => (isTrimmed ? is[name] : Math.min(is[name], high[name]));
      return { model, ...usageWith((name) => Math.max(right(name), low[name])) };
    })
    .filter((usage) => USAGE_COUNTS.some((name) => usage[name] > 0));
}

/** A session that counts as many models as it may by their names counts the others of its log as one. */
function usageNamedAs(stored: readonly ModelUsage[], { usage: { least, most } }: LogCheck): LogCheck['usage'] {
  if (stored.length < MOST_MODELS_OF_SESSION) return { least, most };
  const names = new Set(stored.map(({ model }) => model));
  const named = (models: readonly ModelUsage[]): ModelUsage[] =>
    usageByModel(models.map((usage) => (names.has(usage.model) ? usage : { ...usage, model: UNKNOWN_MODEL })));
  return { least: named(least), most: named(most) };
}

function findModelTokens(usage: readonly ModelUsage[], model: string): TokenUsage {
  return usage.find((one) => one.model === model) ?? NO_USAGE;
}

/** Compares a stored checkpoint with what follows from the log up to its event. */
export function checkpointNotes(stored: StoredCheckpoint, record: SessionRecord, fold: LogCheck): Note[] {
  const { seq } = stored;
  const { state: folded, controls, sums } = fold;
  if (!folded) return [];
  try {
    const { state, shared, counters } = storedCheckpoint(stored, record);
    // A rewind or a summary needs a second reading, and trimmed events are not known.
    const isPlain = record.firstSeq === 1 && controls.length === 0;
    const different = [
      canonicalJson(state) !== canonicalJson(folded.toRecord()) && 'state',
      isPlain && canonicalJson(shared) !== canonicalJson(folded.toShared()) && 'shared values',
      isPlain && COUNTERS.some((name) => counters[name] !== sums.counters[name]) && 'counters',
    ].filter((part) => part !== false);
    if (different.length === 0) return [];
    const detail = `the checkpoint at ${seq} has other ${different.join(', ')} than the log`;
    return [{ code: 'CHECKPOINT_DIFFERS', detail }];
  } catch {
    return [{ code: 'CHECKPOINT_DIFFERS', detail: `the checkpoint at ${seq} cannot be read` }];
  }
}
