import { InvalidInputError } from '../errors/errors.js';
import { allFields } from '../event/event-inspection.js';
import type { EventInput, EventLike } from '../event/event.js';
import { Event, EventActions } from '../event/event.js';
import { classOf, isGiven, isPlainObject } from '../values/json-value.js';

type Kind = 'string' | 'boolean' | 'array' | 'object';

/** The fields that the rules read. Other fields may be any JSON value. */
const EVENT_FIELDS: readonly (readonly [field: string, kind: Kind])[] = [
  ['invocationId', 'string'],
  ['author', 'string'],
  ['branch', 'string'],
  ['partial', 'boolean'],
  ['content', 'object'],
  ['longRunningToolIds', 'array'],
  ['usageMetadata', 'object'],
  ['redaction', 'object'],
];

/** What messages show of the shape that is expected. */
const EXAMPLES = {
  event: "{ author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } }",
  content: "{ role: 'user', parts: [{ text: 'Hello' }] }",
  parts: "[{ text: 'Hello' }]",
  part: "{ text: 'Hello' }",
  actions: '{ stateDelta: { step: 1 } }',
  longRunningToolIds: "['call-1']",
};

/** Refuses an event whose known fields have the wrong type. The JSON check covers the rest. */
export function assertEventShape(event: EventLike): void {
  assertObject(event);
  const actions: unknown = event.actions;
  if (isGiven(actions) && !(actions instanceof EventActions) && !isPlainObject(actions)) {
    throw new InvalidInputError(`must be an object, such as ${EXAMPLES.actions}`, '$.actions');
  }
  for (const [field, kind] of EVENT_FIELDS) assertKind(allFields(event)[field], kind, '$.', field);
  assertParts(event.content?.parts);
  assertControl(event.actions?.compaction, ['fromSeq', 'toSeq'], '$.actions.compaction');
  assertBranchSummary(event.actions?.branchSummary, '$.actions.branchSummary');
  assertControl(event.actions?.rewind, ['toSeq'], '$.actions.rewind');
  if (isGiven(event.actions?.compaction) && isGiven(event.actions?.rewind)) {
    throw new InvalidInputError('an event is a summary or a rewind, not both', '$.actions');
  }
}

/**
 * Refuses an event without author: most likely it is an object that wraps an event. Separate from the shape check,
 * since a hook may set the author.
 */
export function assertAuthor({ author }: EventInput): void {
  if (typeof author === 'string' && author.trim() !== '') return;
  throw new InvalidInputError(
    'is missing. Set it to `user` or to the name of the agent. An event inside another object, such as { event: … }, ' +
      'must be sent without that object around it',
    '$.author',
  );
}

function assertObject(event: unknown): void {
  if (event instanceof Event || isPlainObject(event)) return;
  const kind = typeof event === 'object' && event !== null ? `a plain object, not ${classOf(event)}` : 'an object';
  throw new InvalidInputError(`an event must be ${kind}, such as ${EXAMPLES.event}`, '$');
}

function assertParts(parts: unknown): void {
  assertKind(parts, 'array', '$.content.', 'parts');
  if (!Array.isArray(parts)) return;
  for (let index = 0; index < parts.length; index++) {
    if (isPlainObject(parts[index])) continue;
    throw new InvalidInputError(`must be an object, such as ${EXAMPLES.part}`, `$.content.parts[${index}]`);
  }
}

/** That of a fork may cover none of its events. */
function assertBranchSummary(summary: unknown, path: string): void {
  if (!isGiven(summary)) return;
  assertControl(summary, ['fromSeq', 'toSeq'], path, 0);
  for (const field of ['branch', 'text']) {
    const value = isPlainObject(summary) ? summary[field] : undefined;
    if (typeof value !== 'string') throw new InvalidInputError('must be a string', `${path}.${field}`);
  }
}

/** Summaries and rewinds refer to events by ascending `seq`. */
function assertControl(
  control: unknown,
  seqFields: readonly string[],
  path: string,
  from = seqFields.length > 1 ? 1 : 0,
): void {
  if (!isGiven(control)) return;
  if (!isPlainObject(control)) throw new InvalidInputError('must be an object', path);
  let lowest = from;
  for (const field of seqFields) {
    const seq = control[field];
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < lowest) {
      throw new InvalidInputError(`must be a whole number from ${lowest} on`, `${path}.${field}`);
    }
    lowest = seq;
  }
}

function assertKind(value: unknown, kind: Kind, place: string, field: string): void {
  if (!isGiven(value) || findValueKind(value) === kind) return;
  const example = Object.hasOwn(EXAMPLES, field) ? `, such as ${EXAMPLES[field as keyof typeof EXAMPLES]}` : '';
  throw new InvalidInputError(`must be ${article(kind)} ${kind}${example}`, place + field);
}

function findValueKind(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function article(kind: Kind): string {
  return /^[ao]/.test(kind) ? 'an' : 'a';
}
