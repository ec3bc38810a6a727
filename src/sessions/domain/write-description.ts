import { type Scope, splitStateKey } from '../../state/scopes.js';

/**
 * Describes what a request writes, for access rules. It holds names and no content: the authors, the kinds of content, the
 * other effects of the event, and the state keys that it sets or removes.
 */
export interface WriteDescription {
  /** The authors of the events, as the caller gave them; `''` for an event without author. Empty if the request writes no event of the caller. */
  readonly authors: readonly string[];
  /** The roles of contents, such as `user` or `model`. */
  readonly roles: readonly string[];
  /** The field names of the parts: `text`, `inlineData`, `functionCall`, `thought` and so on. */
  readonly content: readonly string[];
  /** The fields of `actions`, such as `transferToAgent`; the operations `rewind`, `fork`, `summary` and `turn`; `turnsOnly`; and `metadataDelta`, also for the metadata of a new session. */
  readonly controls: readonly string[];
  /** Other fields of the event that have a value, such as `branch` or `usageMetadata`. */
  readonly fields: readonly string[];
  /** The state keys that are set or removed, with their prefixes. */
  readonly stateKeys: readonly string[];
  /** The scopes of these keys. */
  readonly stateScopes: readonly Scope[];
}

/** The parts of a request, not validated yet. */
export interface UncheckedWrite {
  readonly event?: unknown;
  /** Several events in one append. */
  readonly events?: unknown;
  readonly stateDelta?: unknown;
  readonly stateRemovals?: unknown;
  /** The metadata of a session to create. */
  readonly metadata?: unknown;
  /** Effects of the operation besides the caller's event. */
  readonly controls?: readonly string[] | undefined;
}

/** Fields that any client may set, and fields that {@link WriteDescription} lists separately. */
const PLAIN_FIELDS = new Set(['id', 'seq', 'invocationId', 'timestamp', 'partial', 'author', 'content', 'actions']);

/**
 * Describes a write before it is validated. Unknown fields appear by name, so that a rule with a list of allowed names
 * refuses them.
 *
 * @example
 * describeWrite({ event: { author: 'user', content: { parts: [{ text: 'Hello' }] } } }).content; // ['text']
 */
export function describeWrite(write: UncheckedWrite): WriteDescription {
  const { event, events, stateDelta, stateRemovals, metadata, controls = [] } = write;
  const described = [...listOf(event), ...(Array.isArray(events) ? events : listOf(events))].map(describeEvent);
  const stateKeys = unique([
    ...keysOf(stateDelta, stateRemovals),
    ...described.flatMap(({ stateKeys: ofEvent }) => ofEvent),
  ]);
  const namesOf = (field: Exclude<keyof EventDescription, 'stateKeys'>): string[] =>
    unique(described.flatMap((one) => one[field]));
  return {
    authors: namesOf('authors'),
    roles: namesOf('roles'),
    content: namesOf('content'),
    controls: unique([...controls, ...tellingNames({ metadataDelta: metadata }, []), ...namesOf('controls')]),
    fields: namesOf('fields'),
    stateKeys,
    stateScopes: unique(stateKeys.map((key) => splitStateKey(key).scope)),
  };
}

type EventDescription = Omit<WriteDescription, 'stateScopes'>;

function describeEvent(event: unknown): EventDescription {
  const said = recordOf(event);
  const actions = recordOf(said.actions);
  const content = recordOf(said.content);
  const parts = Array.isArray(content.parts) ? content.parts.map(recordOf) : [];
  return {
    authors: [textOrNothing(said.author)],
    roles: content.role === undefined || content.role === null ? [] : [textOrNothing(content.role)],
    content: parts.flatMap((part) => Object.keys(part).filter((name) => isThere(part[name]))),
    controls: tellingNames(actions, ['stateDelta', 'stateRemovals']),
    fields: [
      ...tellingNames(said, PLAIN_FIELDS),
      ...tellingNames(content, ['role', 'parts']).map((name) => `content.${name}`),
    ],
    stateKeys: keysOf(actions.stateDelta, actions.stateRemovals),
  };
}

/** What is given, as a list; what is no event is described like an empty one. */
function listOf(given: unknown): unknown[] {
  return given === undefined ? [] : [given];
}

/** The part of a write that concerns one state scope. */
export function describeScope(write: WriteDescription, scope: Scope): WriteDescription {
  const stateKeys = write.stateKeys.filter((key) => splitStateKey(key).scope === scope);
  return { ...describeWrite({}), stateKeys, stateScopes: stateKeys.length > 0 ? [scope] : [] };
}

/** What clients may write. Each list replaces its default. */
export interface ClientWrites {
  /** `user` unless given. */
  readonly authors?: readonly string[] | undefined;
  /** `user` unless given. */
  readonly roles?: readonly string[] | undefined;
  /** `text`, `inlineData` and `fileData` unless given. */
  readonly content?: readonly string[] | undefined;
  /** None unless given, such as `rewind` and `fork`. */
  readonly controls?: readonly string[] | undefined;
  /** None unless given, such as `customMetadata`. */
  readonly fields?: readonly string[] | undefined;
  /** `session`, `user` and `temp` unless given. */
  readonly stateScopes?: readonly Scope[] | undefined;
}

const CLIENT_WRITES = {
  authors: ['user'],
  roles: ['user'],
  content: ['text', 'inlineData', 'fileData'],
  controls: [],
  fields: [],
  stateScopes: ['session', 'user', 'temp'],
} as const satisfies ClientWrites;

/**
 * Whether a client may make this write. Clients must not write as an agent or a tool. By default they write as the user, text and files
 * only, without control over the session and without app state. A write without description is refused.
 *
 * @example
 * isClientWrite(describeWrite({ event: { author: 'agent' } })); // false
 */
export function isClientWrite(write: WriteDescription | undefined, allowed: ClientWrites = {}): boolean {
  if (write === undefined) return false;
  const names = Object.keys(CLIENT_WRITES) as (keyof typeof CLIENT_WRITES)[];
  return names.every((name) => {
    const list: readonly string[] = allowed[name] ?? CLIENT_WRITES[name];
    return write[name].every((item) => list.includes(item));
  });
}

function textOrNothing(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function keysOf(delta: unknown, removals: unknown): string[] {
  const removed: unknown[] = Array.isArray(removals) ? removals : [];
  return [...Object.keys(recordOf(delta)), ...removed.filter((key) => typeof key === 'string')];
}

/** The names of the fields that have a value. Other ADKs send every field, most of them empty. */
function tellingNames(record: Readonly<Record<string, unknown>>, besides: Iterable<string>): string[] {
  const left = new Set(besides);
  return Object.keys(record).filter((name) => !left.has(name) && isThere(record[name]) && !isEmpty(record[name]));
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function unique<Item>(items: readonly Item[]): Item[] {
  return [...new Set(items)];
}
