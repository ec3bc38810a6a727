import { type Json, toTextOrEmpty } from '../shared/given-json.js';
import { type TaskJson, omitItemParts, isSame, isTerminal, listItemParts } from './task-json.js';
import type { ArtifactChange, HeadChange, MessageChange } from './task-records.js';

/** What to append, so that the task of the log says what a writer wants to say. */
export interface TaskChanges {
  readonly messages: readonly MessageChange[];
  readonly artifacts: readonly ArtifactChange[];
  readonly head: HeadChange | undefined;
}

/** What a writer knew of the task when it made its own version. `undefined` if it never read the task. */
export type KnownTask = { readonly task: TaskJson | undefined } | undefined;

const NOTHING: TaskJson = { contextId: '', status: undefined, metadata: undefined, history: [], artifacts: [] };

/**
 * What a writer changed, and only that: what it did not change stays as others left it. So two writers that read the same
 * task lose nothing of each other. Messages are never removed, and a task that ended does not begin again.
 */
export function changesOf(next: TaskJson, current: TaskJson | undefined, known: KnownTask): TaskChanges {
  const now = current ?? NOTHING;
  const base = known && (known.task ?? NOTHING);
  const messages = messageChanges(next, now, base);
  const artifacts = artifactChanges(next, now, base);
  const history = [...now.history, ...messages.filter(({ at }) => at === undefined).map(({ message }) => message)];
  for (const { message, at } of messages) if (at !== undefined) history[at] = message;
  const head = headChange(next, now, base, history);
  const isNew = current === undefined;
  return { messages, artifacts, head: isNew ? { contextId: next.contextId, ...head } : head };
}

function messageChanges(next: TaskJson, now: TaskJson, base: TaskJson | undefined): MessageChange[] {
  const [inNow, inBase] = [byKey(now.history, 'messageId'), byKey(base?.history ?? [], 'messageId')];
  return [...byKey(next.history, 'messageId')].flatMap(([key, { item: message }]) => {
    const [there, before] = [inNow.get(key), inBase.get(key)];
    // What the writer knew and is gone was rewound.
    if (!there) return before ? [] : [{ message }];
    if (isSame(there.item, message) || isSame(before?.item, message)) return [];
    if (before) return [{ message, at: there.index }];
    return base && toTextOrEmpty(message.messageId) === '' ? [{ message }] : [];
  });
}

function artifactChanges(next: TaskJson, now: TaskJson, base: TaskJson | undefined): ArtifactChange[] {
  const [inNow, inBase] = [byKey(now.artifacts, 'artifactId'), byKey(base?.artifacts ?? [], 'artifactId')];
  return [...byKey(next.artifacts, 'artifactId')].flatMap(([key, { item: artifact }]): ArtifactChange[] => {
    const [there, before] = [inNow.get(key), inBase.get(key)];
    if (!there) return before ? [] : [{ artifact }];
    if (isSame(there.item, artifact) || isSame(before?.item, artifact)) return [];
    return changeOf(artifact, there, base ? (before?.item ?? {}) : undefined);
  });
}

/** @param before what the writer knew of the artifact; `undefined` if it knew nothing of the whole task */
function changeOf(artifact: Json, there: Place, before: Json | undefined): ArtifactChange[] {
  const at = there.index;
  const [parts, partsThere] = [listItemParts(artifact), listItemParts(there.item)];
  const knownParts = before ? listItemParts(before) : partsThere.slice(0, sameLength(parts, partsThere));
  const fields = mergedFields(omitItemParts(artifact), omitItemParts(there.item), before && omitItemParts(before));
  const isContinued = sameLength(parts, knownParts) === knownParts.length && (before || knownParts.length > 0);
  if (!isContinued) return [{ artifact: { ...fields, ...(parts.length > 0 && { parts }) }, at }];
  const added = parts.slice(knownParts.length);
  if (added.length === 0 && isSame(fields, omitItemParts(there.item))) return [];
  return [{ artifact: { ...fields, ...(added.length > 0 && { parts: added }) }, at, append: true }];
}

/** The fields that the writer changed, over those that are there. */
function mergedFields(next: Json, now: Json, base: Json | undefined): Json {
  if (!base) return { ...now, ...next };
  const merged: Record<string, unknown> = { ...now };
  for (const name of new Set([...Object.keys(base), ...Object.keys(next)])) {
    if (isSame(next[name], base[name])) continue;
    if (next[name] === undefined) delete merged[name];
    else merged[name] = next[name];
  }
  return merged;
}

function headChange(
  next: TaskJson,
  now: TaskJson,
  base: TaskJson | undefined,
  history: readonly Json[],
): HeadChange | undefined {
  const isMoved = next.contextId !== now.contextId && next.contextId !== base?.contextId;
  const status = statusChange(next, now, base);
  const metadata = metadataChange(next, now, base);
  if (!isMoved && !status && !metadata) return undefined;
  return {
    ...(isMoved && { contextId: next.contextId }),
    ...(status && { status: withoutCopy(status, history) }),
    ...(metadata && { metadata }),
  };
}

function statusChange({ status }: TaskJson, now: TaskJson, base: TaskJson | undefined): Json | undefined {
  if (!status || isSame(status, now.status) || (base && isSame(status, base.status))) return undefined;
  const isEnded = isTerminal(now.status) && !(base && isSame(base.status, now.status));
  return isEnded ? undefined : status;
}

function metadataChange(next: TaskJson, now: TaskJson, base: TaskJson | undefined): HeadChange['metadata'] {
  if (!next.metadata) return undefined;
  const [wanted, there, before] = [next.metadata, now.metadata ?? {}, base?.metadata ?? {}];
  const set = Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => !isSame(value, there[name]) && !(base && isSame(value, before[name])),
    ),
  );
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(wanted, name) && Object.hasOwn(there, name));
  const isNothing = Object.keys(set).length === 0 && removed.length === 0;
  return isNothing && now.metadata ? undefined : { set, removed };
}

/** The message of a status is mostly one of the history. */
function withoutCopy(status: Json, history: readonly Json[]): Json {
  const { message, ...fields } = status;
  const at = message === undefined ? -1 : history.findLastIndex((each) => isSame(each, message));
  return at < 0 ? status : { ...fields, at };
}

interface Place {
  readonly item: Json;
  readonly index: number;
}

/** Items by their id. Those with the same id, or without one, are told apart by their order. */
function byKey(items: readonly Json[], field: string): Map<string, Place> {
  const places = new Map<string, Place>();
  const counts = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const id = toTextOrEmpty(item[field]);
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    places.set(JSON.stringify([id, count]), { item, index });
  }
  return places;
}

/** How many of the first parts are the same. */
function sameLength(a: readonly Json[], b: readonly Json[]): number {
  const end = a.findIndex((part, index) => !isSame(part, b[index]));
  return end < 0 ? a.length : end;
}
