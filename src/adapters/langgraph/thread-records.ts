import type { EventInput, LoggedEvent } from '../../sessions/domain/event.js';

/** What a serializer of LangGraph made of a value, as JSON. */
export interface SerializedValue {
  readonly type: string;
  readonly text?: string;
  /** Instead of `text`, for bytes that are no UTF-8. */
  readonly base64?: string;
}

/** An item of a list: its text, or the event that has it. */
export type StoredItem = SerializedValue | { readonly seq: number } | { readonly back: number };

/** A list, as what follows the first items of an earlier one. */
export interface StoredList {
  /** The `seq` of the checkpoint with the earlier list. */
  readonly base?: number;
  /** How many items of the earlier list stay. */
  readonly keep: number;
  /** An item with `back` is that many events before the checkpoint's. */
  readonly items: readonly StoredItem[];
}

/** The value of a channel: here, or at the `seq` of the checkpoint that wrote it. */
export type StoredChannel =
  { readonly value: SerializedValue } | { readonly list: StoredList } | { readonly at: number };

/** A checkpoint, as an event holds it. */
export interface CheckpointRecord {
  readonly kind: 'checkpoint';
  /** The session. Its forks have these events under other numbers. */
  readonly thread: string;
  readonly id: string;
  readonly ns: string;
  readonly parent?: string | undefined;
  readonly v: number;
  readonly ts: string;
  readonly versions: Readonly<Record<string, number | string>>;
  readonly seen: Readonly<Record<string, Record<string, number | string>>>;
  readonly metadata: SerializedValue;
  readonly values: Readonly<Record<string, StoredChannel>>;
}

/** The writes of a task to a checkpoint. */
export interface WritesRecord {
  readonly kind: 'writes';
  readonly thread: string;
  readonly ns: string;
  readonly checkpoint: string;
  readonly task: string;
  readonly path: string;
  readonly writes: readonly (readonly [index: number, channel: string, value: SerializedValue])[];
}

/** A message of a list. */
export interface MessageRecord {
  readonly kind: 'message';
  readonly item: SerializedValue;
}

/** Where the newest checkpoint of a namespace is: after this `seq`. */
export interface ThreadHead {
  readonly thread: string;
  readonly id: string;
  readonly after: number;
}

/** The author of checkpoints and writes. Clients that write as users cannot make any. */
export const RECORD_AUTHOR = 'langgraph';

const FIELD = 'langgraph';

/** The fields of an event that hold a record. */
export function recordFields(
  record: CheckpointRecord | WritesRecord | MessageRecord,
): Pick<EventInput, 'customMetadata'> {
  return { customMetadata: { [FIELD]: record } };
}

/** The checkpoint or the writes of an event of the thread. */
export function recordOf(event: LoggedEvent, thread: string): CheckpointRecord | WritesRecord | undefined {
  if (event.author !== RECORD_AUTHOR) return undefined;
  const record = fieldOf(event) as CheckpointRecord | WritesRecord | undefined;
  return record?.thread === thread ? record : undefined;
}

/** The message of an event, as LangChain serialized it. */
export function messageItemOf(event: LoggedEvent): SerializedValue | undefined {
  const record = fieldOf(event) as MessageRecord | undefined;
  return record?.kind === 'message' ? record.item : undefined;
}

function fieldOf(event: LoggedEvent): unknown {
  return event.customMetadata?.[FIELD];
}
