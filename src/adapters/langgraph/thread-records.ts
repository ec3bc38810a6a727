import type { EventInput, LoggedEvent } from '../../index.js';
import { type LinkedItem, type SerializedValue, wholeItem } from './message-item.js';

export type { SerializedValue } from './message-item.js';

/** An item of a list: its text, or the event that has it. */
export type StoredItem = SerializedValue | { readonly seq: number } | { readonly back: number };

/** A list, as what follows the first items of an earlier one. */
interface StoredList {
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
  /** All writes to it come after this `seq`, some of them before the checkpoint itself. Missing in logs of older versions. */
  readonly after?: number;
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
  readonly item: SerializedValue | LinkedItem;
}

/** The events of users that a chat history wrote: their messages are what it was given. Clients cannot make this record. */
export interface OwnRecord {
  readonly kind: 'own';
  readonly ids: readonly string[];
}

/** The newest checkpoint of a namespace. */
export interface ThreadHead {
  /** The session. Its forks have this state, too. */
  readonly thread: string;
  readonly id: string;
}

/** The author of checkpoints and writes. Clients that write as users cannot make any. */
export const RECORD_AUTHOR = 'langgraph';

const FIELD = 'langgraph';

/** The fields of an event that hold a record. */
export function recordFields(
  record: CheckpointRecord | WritesRecord | MessageRecord | OwnRecord,
): Pick<EventInput, 'customMetadata'> {
  return { customMetadata: { [FIELD]: record } };
}

/** The checkpoint or the writes of an event of the thread. */
export function readThreadRecord(event: LoggedEvent, thread: string): CheckpointRecord | WritesRecord | undefined {
  if (event.author !== RECORD_AUTHOR) return undefined;
  const record = readRecordField(event) as CheckpointRecord | WritesRecord | undefined;
  return record?.thread === thread ? record : undefined;
}

/** The message of an event, as LangChain serialized it. */
export function messageItemOf(event: LoggedEvent): SerializedValue | undefined {
  const record = readRecordField(event) as MessageRecord | undefined;
  return record?.kind === 'message' ? wholeItem(record.item, event.content?.parts ?? []) : undefined;
}

/** The events of users that {@link OwnRecord}s and checkpoints name, by their ids: what the adapter itself wrote. */
export function ownEventIds(events: readonly LoggedEvent[], thread: string): ReadonlySet<string> {
  const ids = new Map(events.map(({ seq, id }) => [seq, id]));
  return new Set(
    events.flatMap((event): readonly string[] => {
      const record =
        event.author === RECORD_AUTHOR
          ? (readRecordField(event) as OwnRecord | CheckpointRecord | undefined)
          : undefined;
      if (record?.kind === 'own') return record.ids;
      if (record?.kind !== 'checkpoint' || record.thread !== thread) return [];
      return Object.values(record.values).flatMap((stored) =>
        'list' in stored ? stored.list.items.flatMap((item) => ids.get(resolveItemSeq(item, event.seq)) ?? []) : [],
      );
    }),
  );
}

/** The `seq` of the event that has the item; 0 if the item has its text. */
export function resolveItemSeq(item: StoredItem, seq: number): number {
  if ('seq' in item) return item.seq;
  return 'back' in item ? seq - item.back : 0;
}

function readRecordField(event: LoggedEvent): unknown {
  return event.customMetadata?.[FIELD];
}
