import type { MetadataChange } from './metadata-entries.js';

/** Title, status, tags, labels and own fields. They describe the session as a whole, so a rewind does not change them. */
export interface SessionMetadata {
  title?: string;
  status?: string;
  /** Sorted, without repetition. */
  tags: string[];
  labels: Record<string, string>;
  /** JSON values of the app. */
  fields: Record<string, unknown>;
}

/** The metadata of a session to create. */
export type SessionMetadataInput = Partial<SessionMetadata>;

/**
 * Changes of metadata. What is not named stays as it is, so writers of different tags, labels or fields never erase each
 * other's.
 *
 * @example
 * const metadataDelta: MetadataDelta = { title: 'Refund', tags: { add: ['vip'], remove: ['new'] }, labels: { region: 'eu' } };
 */
export interface MetadataDelta {
  /** `null` removes it. */
  title?: string | null;
  /** `null` removes it. */
  status?: string | null;
  tags?: { add?: string[]; remove?: string[] };
  /** `null` removes a label. */
  labels?: Record<string, string | null>;
  /** Fields to set; `null` is a value. */
  fields?: Record<string, unknown>;
  fieldRemovals?: string[];
}

/** The entries that a delta changes: one for the title, the status, each tag, each label and each field. */
export function metadataChanges(delta: MetadataDelta): MetadataChange[] {
  const { title, status, tags = {}, labels = {}, fields = {}, fieldRemovals = [] } = delta;
  const { add = [], remove = [] } = tags;
  return [
    ...(title === undefined ? [] : [change('title', title)]),
    ...(status === undefined ? [] : [change('status', status)]),
    ...add.map((tag) => change(`tag:${tag}`, true)),
    ...remove.map((tag) => change(`tag:${tag}`, null)),
    ...Object.entries(labels).map(([name, value]) => change(`label:${name}`, value)),
    ...Object.entries(fields).map(([name, value]) => [`field:${name}`, JSON.stringify(value)] as const),
    ...fieldRemovals.map((name) => change(`field:${name}`, null)),
  ];
}

/**
 * The delta of these changes: the reverse of {@link metadataChanges}.
 *
 * @example metadataDeltaOf([['tag:vip', 'true'], ['title', null]]); // { tags: { add: ['vip'], remove: [] }, title: null, … }
 */
export function metadataDeltaOf(changes: readonly MetadataChange[]): MetadataDelta {
  const of = (kind: string): (readonly [name: string, value: unknown])[] =>
    changes.flatMap(([name, value]) =>
      name.startsWith(kind) ? [[name.slice(kind.length), value === null ? undefined : JSON.parse(value)] as const] : [],
    );
  const [tags, labels, fields] = [of('tag:'), of('label:'), of('field:')];
  const texts = changes.filter(([name]) => name === 'title' || name === 'status');
  return {
    ...Object.fromEntries(texts.map(([name, value]) => [name, value === null ? null : JSON.parse(value)] as const)),
    tags: { add: listEntryNames(tags.filter(isSet)), remove: listEntryNames(tags.filter((tag) => !isSet(tag))) },
    labels: Object.fromEntries(labels.map(([name, value]) => [name, (value ?? null) as string | null])),
    fields: Object.fromEntries(fields.filter(isSet)),
    fieldRemovals: listEntryNames(fields.filter((field) => !isSet(field))),
  };
}

function isSet([, value]: readonly [name: string, value: unknown]): boolean {
  return value !== undefined;
}

function listEntryNames(entries: readonly (readonly [name: string, value: unknown])[]): string[] {
  return entries.map(([name]) => name);
}

function change(name: string, value: string | true | null): MetadataChange {
  return [name, value === null ? null : JSON.stringify(value)];
}
