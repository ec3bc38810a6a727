import { type Scope, splitStateKey } from '../../../state/scopes.js';
import type { MetadataChange } from '../metadata/metadata-entries.js';
import { metadataChanges } from '../metadata/metadata.js';
import { RESERVED_ACTIONS, reservedInId, reservedInMetadata, reservedInState } from '../values/reserved-words.js';

/**
 * Describes what a request writes, for access rules. It holds names and no content: the authors, the kinds of content, the
 * other effects of the event, the state keys that it sets or removes, and what lists are filtered by.
 */
export interface WriteDescription {
  /** The authors of the events, as the caller gave them; `''` for an event without author. Empty if the request writes no event of the caller. */
  readonly authors: readonly string[];
  /** The roles of contents, such as `user` or `model`. */
  readonly roles: readonly string[];
  /** The field names of the parts: `text`, `inlineData`, `functionCall`, `thought` and so on. */
  readonly content: readonly string[];
  /**
   * Operations: `rewind`, `redact`, `fork`, `summary`, `turn`, `stop`, `approval`; `turnsOnly`; `metadataDelta`, also for the metadata of a new
   * session; and fields of an event's `actions` with that name before them, such as `actions.transferToAgent`.
   */
  readonly controls: readonly string[];
  /**
   * Other fields of the event that have a value, such as `branch` or `usageMetadata`; and `reserved:` with a word that the product
   * itself writes, in an id, a state key or a name of the metadata, such as `reserved:answer:`.
   */
  readonly fields: readonly string[];
  /** The state keys that are set or removed, with their prefixes. */
  readonly stateKeys: readonly string[];
  /** The scopes of these keys. */
  readonly stateScopes: readonly Scope[];
  /**
   * What becomes of the status, the tags and the labels, in the order of the events: `['label:team', '"north"']`, with the value as
   * JSON text, or `null` where it is removed.
   */
  readonly metadata: readonly MetadataChange[];
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
  const said = new DescribedWrite();
  for (const control of controls) said.controls.add(control);
  said.addMetadata(metadata);
  addKeys(said.stateKeys, stateDelta, stateRemovals);
  if (event !== undefined) addEvent(said, event);
  for (const one of Array.isArray(events) ? (events as unknown[]) : wrapInList(events)) addEvent(said, one);
  for (const key of said.stateKeys.list) said.addReserved(reservedInState(key));
  return said.description();
}

/** How many names are compared one by one. */
const FEW_NAMES = 16;

/** Each name once, in the order in which they came. */
class Names {
  readonly list: string[] = [];
  #known: Set<string> | undefined;

  add(name: string): void {
    if (this.#known ? this.#known.has(name) : this.list.includes(name)) return;
    this.list.push(name);
    if (this.#known) this.#known.add(name);
    else if (this.list.length > FEW_NAMES) this.#known = new Set(this.list);
  }
}

class DescribedWrite {
  readonly authors = new Names();
  readonly roles = new Names();
  readonly content = new Names();
  readonly controls = new Names();
  readonly fields = new Names();
  readonly stateKeys = new Names();
  readonly metadata: MetadataChange[] = [];

  addMetadata(metadata: unknown): void {
    if (!isThere(metadata) || isEmpty(metadata)) return;
    this.controls.add('metadataDelta');
    for (const change of indexedChanges(toObjectOrEmpty(metadata))) this.metadata.push(change);
    for (const word of reservedInMetadata(toObjectOrEmpty(metadata))) this.addReserved(word);
  }

  addReserved(word: string | undefined): void {
    if (word !== undefined) this.fields.add(`reserved:${word}`);
  }

  description(): WriteDescription {
    const stateScopes = new Set<Scope>();
    for (const key of this.stateKeys.list) stateScopes.add(splitStateKey(key).scope);
    return {
      authors: this.authors.list,
      roles: this.roles.list,
      content: this.content.list,
      controls: this.controls.list,
      fields: this.fields.list,
      stateKeys: this.stateKeys.list,
      stateScopes: [...stateScopes],
      metadata: this.metadata,
    };
  }
}

/** Of the metadata of a new session, whose tags are a list, or of changes of it. What is invalid is refused later. */
function indexedChanges({ status, tags, labels }: Readonly<Record<string, unknown>>): MetadataChange[] {
  const { add, remove } = Array.isArray(tags) ? { add: tags, remove: [] } : toObjectOrEmpty(tags);
  return metadataChanges({
    ...((typeof status === 'string' || status === null) && { status }),
    tags: { add: textsIn(add), remove: textsIn(remove) },
    labels: Object.fromEntries(Object.entries(toObjectOrEmpty(labels)).filter(isLabel)),
  });
}

function isLabel(entry: readonly [string, unknown]): entry is [string, string | null] {
  return typeof entry[1] === 'string' || entry[1] === null;
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** Described by what they change. */
const PLAIN_ACTIONS: ReadonlySet<string> = new Set(['stateDelta', 'stateRemovals', 'metadataDelta']);
const PLAIN_CONTENT: ReadonlySet<string> = new Set(['role', 'parts']);

/** What is no event is described like an empty one. */
function addEvent(to: DescribedWrite, event: unknown): void {
  const said = toObjectOrEmpty(event);
  const actions = toObjectOrEmpty(said.actions);
  const content = toObjectOrEmpty(said.content);
  to.authors.add(textOrNothing(said.author));
  if (content.role !== undefined && content.role !== null) to.roles.add(textOrNothing(content.role));
  for (const part of Array.isArray(content.parts) ? (content.parts as unknown[]) : []) {
    const record = toObjectOrEmpty(part);
    for (const name of Object.keys(record)) if (isThere(record[name])) to.content.add(name);
  }
  to.addReserved(reservedInId(said.id));
  to.addReserved(reservedInId(said.invocationId));
  to.addMetadata(actions.metadataDelta);
  addTellingNames(to.controls, actions, PLAIN_ACTIONS, 'actions.');
  addTellingNames(to.fields, said, PLAIN_FIELDS);
  addTellingNames(to.fields, content, PLAIN_CONTENT, 'content.');
  addKeys(to.stateKeys, actions.stateDelta, actions.stateRemovals);
}

/** What is given, as a list; what is no event is described like an empty one. */
function wrapInList(given: unknown): unknown[] {
  return given === undefined ? [] : [given];
}

/** The part of a write that concerns one state scope. */
export function describeScope(write: WriteDescription, scope: Scope): WriteDescription {
  const stateKeys = write.stateKeys.filter((key) => splitStateKey(key).scope === scope);
  return { ...describeWrite({}), stateKeys, stateScopes: stateKeys.length > 0 ? [scope] : [] };
}

function textOrNothing(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function addKeys(keys: Names, delta: unknown, removals: unknown): void {
  for (const key of Object.keys(toObjectOrEmpty(delta))) keys.add(key);
  for (const key of Array.isArray(removals) ? (removals as unknown[]) : []) if (typeof key === 'string') keys.add(key);
}

/** Adds the names of the fields that have a value. Other ADKs send every field, most of them empty. */
function addTellingNames(
  names: Names,
  record: Readonly<Record<string, unknown>>,
  besides: ReadonlySet<string>,
  prefix = '',
): void {
  for (const name of Object.keys(record)) {
    if (besides.has(name) || !isThere(record[name])) continue;
    if (!isEmpty(record[name]) || RESERVED_ACTIONS.has(name)) names.add(prefix + name);
  }
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function toObjectOrEmpty(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
