import type { GivenEvent } from './entries.js';
import { assertMetadata, toldBy } from './metadata.js';
import { Refusal } from './refusal.js';
import { asJson, changesOf, isEmpty, only } from './state.js';

const WITHOUT_NAME = new Set(['', 'user:', 'app:', 'temp:']);

export interface Submission {
  /** Without `seq`, and without a timestamp if none was given. */
  readonly event: GivenEvent & { id: string };
  readonly submitted: string;
}

/** The part of an event that is stored, and a text that is equal for equal content. */
export function submissionOf(given: GivenEvent, assignedId: string): Submission {
  if (!given.author) throw new Refusal('INVALID_INPUT');
  assertChanges(given.actions?.stateDelta, given.actions?.stateRemovals);
  assertRange(given.actions?.compaction);
  assertMetadata(given.actions?.metadataDelta);
  const { seq: _seq, ...fields } = asJson(given) as GivenEvent;
  const { set, removed } = only(changesOf(given.actions), 'session', 'user', 'app');
  const isChange = !isEmpty(changesOf(given.actions)) || toldBy(given.actions?.metadataDelta).length > 0;
  if (given.actions?.compaction && isChange) throw new Refusal('INVALID_INPUT');
  const actions: GivenEvent['actions'] = { ...fields.actions, stateDelta: Object.fromEntries(set) };
  delete actions.stateRemovals;
  if (removed.length > 0) actions.stateRemovals = [...removed];
  const event = { invocationId: '', ...fields, id: given.id ?? assignedId, actions };
  if (event.timestamp !== undefined && event.timestamp < 1e11) event.timestamp *= 1000;
  return { event, submitted: contentText(event) };
}

/** The content of an event as text, without its timestamp. A null field counts as missing. */
export function contentText({ timestamp: _timestamp, ...content }: GivenEvent): string {
  return sortedText(Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null)));
}

export function assertChanges(delta: Record<string, unknown> = {}, removals: readonly string[] = []): void {
  if ([...Object.keys(delta), ...removals].some((key) => WITHOUT_NAME.has(key))) throw new Refusal('INVALID_INPUT');
  if (removals.some((key) => Object.hasOwn(delta, key))) throw new Refusal('INVALID_INPUT');
}

function assertRange(range?: { fromSeq: number; toSeq: number }): void {
  if (range && !(range.fromSeq >= 1 && range.fromSeq <= range.toSeq)) throw new Refusal('INVALID_INPUT');
}

/** JSON text with sorted object keys. */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${sortedText(item)}`);
  return `{${members.sort().join()}}`;
}
