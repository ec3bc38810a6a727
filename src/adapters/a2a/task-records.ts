import { isByUser, isPlainObject, isRewind, isSummary } from '../../adapter.js';
import type { EventInput } from '../../index.js';
import { type Json, toJsonRecord } from '../shared/given-json.js';
import type { TaskWrite } from './task-access.js';
import { omitItemParts, listItemParts } from './task-json.js';
import { joinedPart, messageOfOthers, splitPart } from './task-parts.js';

/** Changes of a task itself. */
export interface HeadChange {
  readonly contextId?: string;
  /** A message of the history is stored as its place there, `at`. */
  readonly status?: Json;
  readonly metadata?: { readonly set: Json; readonly removed: readonly string[] };
}

/** A message to add, or to put in the place of an older one. */
export interface MessageChange {
  readonly message: Json;
  readonly at?: number | undefined;
}

/** An artifact to add, or what changes one: its fields, and its parts or parts to append. */
export interface ArtifactChange {
  readonly artifact: Json;
  readonly at?: number | undefined;
  readonly append?: boolean | undefined;
}

/** What an event says about a task. */
export interface TaskStep {
  readonly message?: MessageChange | undefined;
  readonly artifact?: ArtifactChange | undefined;
  readonly head?: HeadChange | undefined;
}

const FIELD = 'a2a';
const USER = 'ROLE_USER';

/** A message as an event. @param agent author of what users did not say */
export function messageEvent({ message, at }: MessageChange, agent: string): EventInput {
  const isUser = message.role === USER;
  return {
    author: isUser ? 'user' : agent,
    ...toEventContent(message, isUser ? 'user' : 'model'),
    customMetadata: { [FIELD]: { message: toItemRecord(message), ...(at !== undefined && { at }) } },
  };
}

/** What a client writes with a message. */
export function writeOfMessage(message: Json): TaskWrite {
  return { event: { author: 'user', ...toEventContent(message, 'user') } };
}

export function artifactEvent({ artifact, at, append }: ArtifactChange, agent: string): EventInput {
  const record = { artifact: toItemRecord(artifact), ...(at !== undefined && { at }), ...(append && { append }) };
  return { author: agent, ...toEventContent(artifact, 'model'), customMetadata: { [FIELD]: record } };
}

/** The change in the last event, or in one of its own: what users say cannot change a task. */
export function withHead(events: readonly EventInput[], head: HeadChange, agent: string): EventInput[] {
  const last = events.at(-1);
  if (!last || isByUser(last)) return [...events, { author: agent, customMetadata: { [FIELD]: { head } } }];
  const record = { ...toJsonRecord(last.customMetadata?.[FIELD]), head };
  return [...events.slice(0, -1), { ...last, customMetadata: { [FIELD]: record } }];
}

/**
 * What an event says about a task. Clients can write events of users: these only add messages, and only of users. Events of
 * others are messages, too.
 */
export function readTaskStep(event: EventInput): TaskStep {
  if (isSummary(event) || isRewind(event)) return {};
  const record: unknown = event.customMetadata?.[FIELD];
  if (!isPlainObject(record)) {
    const message = messageOfOthers(event);
    return message ? { message: { message } } : {};
  }
  const { message, artifact, append, head } = record;
  const at = typeof record.at === 'number' ? record.at : undefined;
  if (isByUser(event)) {
    return isPlainObject(message) ? { message: { message: { ...readRecordedItem(message, event), role: USER } } } : {};
  }
  return {
    ...(isPlainObject(message) && { message: { message: readRecordedItem(message, event), at } }),
    ...(isPlainObject(artifact) && {
      artifact: { artifact: readRecordedItem(artifact, event), at, append: append === true },
    }),
    ...(isPlainObject(head) && { head }),
  };
}

function toEventContent(item: Json, role: 'user' | 'model'): Pick<EventInput, 'content'> {
  const parts = listItemParts(item).map((part) => splitPart(part).said);
  return parts.length > 0 ? { content: { role, parts } } : {};
}

/** The item without what is in the content of its event. */
function toItemRecord(item: Json): Json {
  const parts = listItemParts(item).map((part) => splitPart(part).rest);
  return { ...omitItemParts(item), ...(parts.length > 0 && { parts }) };
}

function readRecordedItem(record: Json, event: EventInput): Json {
  const said = event.content?.parts ?? [];
  const parts = listItemParts(record).map((rest, index) => joinedPart(said[index], rest));
  return { ...omitItemParts(record), ...(parts.length > 0 && { parts }) };
}
