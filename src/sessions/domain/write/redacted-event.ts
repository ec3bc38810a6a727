import type { Content, Part } from '../event/content.js';
import { countEvent } from '../stored/counters.js';
import type { Event, EventActions, EventInput, LoggedEvent, Redaction } from '../event/event.js';
import { isRedacted } from '../event/event-inspection.js';
import { RESERVED } from '../values/reserved-words.js';
import { kindOfPart } from '../event/event-kinds.js';
import { digestOf } from '../values/json-digest.js';

/** What stands for a text that was redacted. */
export const REDACTED_TEXT = '[redacted]';

/**
 * The note that a redaction leaves. An event that was redacted before keeps the note that it has, with the kinds that go now.
 *
 * @param kinds what goes. Default: all.
 */
export function redactionOf(
  event: Event,
  { at, reason, kinds }: Pick<Redaction, 'at' | 'reason' | 'kinds'>,
): Redaction {
  const { seq: _seq, ...stored } = event;
  const bytes = Buffer.byteLength(JSON.stringify(stored));
  const { kinds: gone, ...note } = event.redaction ?? {
    at,
    reason,
    bytes,
    contentLength: countEvent(event).contentLength,
  };
  if (!kinds || isRedacted(event)) return note;
  return { ...note, kinds: [...new Set([...(gone ?? []), ...kinds])].toSorted() };
}

/** What stays of an event: what others refer to, and what is counted. Nothing that somebody has said. */
const KEPT = [
  ...(['id', 'invocationId', 'author', 'branch', 'timestamp', 'longRunningToolIds', 'modelVersion'] as const),
  ...(['modelRequest', 'errorCode', 'finishReason', 'turnComplete', 'interrupted'] as const),
] as const;

const KEPT_ACTIONS = [
  ...(['stateDelta', 'stateRemovals', 'metadataDelta', 'artifactDelta', 'skipSummarization'] as const),
  ...(['transferToAgent', 'escalate', 'compaction', 'rewind', 'endOfAgent', 'stop', 'withdrawn'] as const),
  ...(['discarded', 'awaitsApproval', 'approvalAnswer', 'redacts'] as const),
] as const satisfies readonly (keyof EventActions)[];

/**
 * The event without what it said. It keeps its place, its author and its times, the ids and names of tools, tokens, and what it does to the
 * session, so that all that follows from the log stays as it is. What is redacted already stays the same. If only some kinds go, parts of
 * others and all other fields stay.
 *
 * @param takesState whether the state keys that it sets lose their values: then it removes them
 */
export function redactedEvent(event: Event, redaction: Redaction, takesState = false): Event {
  const { content, usageMetadata } = event;
  const { kinds } = redaction;
  if (kinds) return { ...event, ...(content && { content: redactedContent(content, kinds) }), redaction };
  const kept: Record<string, unknown> = {};
  for (const field of KEPT) if (event[field] !== undefined) kept[field] = event[field];
  if (content) kept.content = redactedContent(content);
  kept.actions = redactedActions(event.actions, takesState);
  if (usageMetadata) kept.usageMetadata = countsIn(usageMetadata);
  return { ...kept, redaction } as object as Event;
}

function redactedActions(actions: EventActions, takesState: boolean): object {
  const kept: Record<string, unknown> = {};
  for (const name of KEPT_ACTIONS) if (actions[name] !== undefined) kept[name] = actions[name];
  const keys = Object.keys(actions.stateDelta);
  if (takesState && keys.length > 0) {
    kept.stateDelta = {};
    kept.stateRemovals = [...new Set([...(actions.stateRemovals ?? []), ...keys])];
  }
  for (const name of ['requestedAuthConfigs', 'requestedToolConfirmations'] as const) {
    const asked = actions[name];
    // Whoever waits is named by these ids.
    if (asked) kept[name] = Object.fromEntries(Object.keys(asked).map((id) => [id, {}]));
  }
  if (actions.queued) kept.queued = redactedMessage(actions.queued);
  if (actions.branchSummary) kept.branchSummary = { ...actions.branchSummary, text: REDACTED_TEXT };
  if (actions.failure) kept.failure = { ...actions.failure, reason: REDACTED_TEXT };
  return kept;
}

/** A message that waits, or waited, for its run. */
function redactedMessage({ stateDelta: _state, ...queued }: { stateDelta?: unknown; message?: Content }): object {
  return queued.message ? { ...queued, message: redactedContent(queued.message) } : queued;
}

function redactedContent({ role, parts }: Content, kinds?: readonly string[]): Content {
  const isGone = (part: Part): boolean => !kinds || kinds.includes(kindOfPart(part));
  const left = parts?.map((part) => (isGone(part) ? redactedPart(part) : part));
  return { ...(role !== undefined && { role }), ...(left && { parts: left }) };
}

/** Models and the doctor want each call with its response. */
function redactedPart({ functionCall: call, functionResponse: response, thought }: Part): Part {
  if (call) return { functionCall: { ...named(call), args: {} } };
  if (response) return { functionResponse: { ...named(response), response: {} } };
  return { text: REDACTED_TEXT, ...(thought !== undefined && { thought }) };
}

function named({ id, name }: { id?: string; name?: string }): { id?: string; name?: string } {
  return { ...(id !== undefined && { id }), ...(name !== undefined && { name }) };
}

/** Details may be anything. */
function countsIn(usage: object): object {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => typeof count === 'number'));
}

/**
 * The event that tells watches and consumers, which never see an event twice. Its id is made of that of the event, so that it is appended
 * once.
 */
export function redactionNews({ id, redaction }: LoggedEvent): EventInput {
  return {
    id: RESERVED.ids.redacted + digestOf(id),
    author: 'system',
    timestamp: redaction?.at,
    actions: { redacts: { id } } as EventInput['actions'],
  };
}
