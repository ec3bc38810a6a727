import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import { inCommits } from '../../adapter.js';
import type { EventInput, LoggedEvent, Session } from '../../index.js';
import type { AnsweredRequests } from './answered-requests.js';
import {
  type AddedMessage,
  type ChannelWriter,
  type KnownCheckpoint,
  type KnownItem,
  type WrittenChannels,
  storedChannels,
} from './channel-writer.js';
import { serializedValue } from './serialized-value.js';
import { headKey, isStateName } from './thread-address.js';
import {
  type CheckpointRecord,
  RECORD_AUTHOR,
  type StoredItem,
  type ThreadHead,
  resolveItemSeq,
  recordFields,
} from './thread-records.js';

/** A checkpoint to write. */
export interface NewCheckpoint {
  readonly ns: string;
  readonly parent: string | undefined;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  /** Missing if the caller does not say which channels changed. */
  readonly changed: ChannelVersions | undefined;
}

/** A checkpoint to write, and what it does to the thread. */
export interface PlacedCheckpoint extends NewCheckpoint {
  /** The `seq` after which all writes to it come. */
  readonly after: number;
  /** Whether it becomes the newest one. */
  readonly isHead: boolean;
  /** Heads of subgraphs that the state must show, although it was rewound. */
  readonly kept: ReadonlyMap<string, ThreadHead>;
  /** What models were given for the answers among new messages. */
  readonly requests: (messages: readonly AddedMessage[], version: number) => AnsweredRequests;
}

/** Appends all events with consecutive numbers, or returns `undefined`. */
type Append = (events: readonly EventInput[]) => Promise<readonly LoggedEvent[] | undefined>;

const HEADS_PER_EVENT = 500;
const LONGEST_STATE_KEY = 512;
const SCOPED = /^(user|app|temp|langgraph):/;
/** Channels of LangGraph itself. */
const INTERNAL = /^(__|branch:)/;

/** Writes checkpoints: each is one commit that has only what is new. */
export class CheckpointWriter {
  /** @param shows the channel with the messages of the conversation; `undefined` if nothing is to be shown */
  constructor(
    private readonly channels: ChannelWriter,
    private readonly serde: SerializerProtocol,
    private readonly shows: string | undefined,
  ) {}

  /** Returns `undefined` if the session has changed. */
  async write(
    session: Session,
    given: PlacedCheckpoint,
    known: readonly KnownCheckpoint[],
    append: Append,
  ): Promise<KnownCheckpoint | undefined> {
    const { checkpoint, changed } = given;
    const shows = given.ns === '' ? this.shows : undefined;
    const written = await this.channels.write(checkpoint, changed, known, shows);
    const [kept = {}, ...manyKept] = headsToKeep(session, given);
    for (const stateDelta of manyKept) {
      if (!(await append([{ author: RECORD_AUTHOR, actions: { stateDelta } }]))) return undefined;
    }
    const requests = given.requests(written.messages, session.version);
    const withRequest = (event: EventInput): EventInput => ({ ...event, ...requests.get(event) });
    const places = new Map<EventInput, StoredItem>();
    // More than one commit has are written before the checkpoint, which makes them part of the thread.
    const batches = inCommits(written.messages.map(({ event }) => event));
    const last = batches.pop() ?? [];
    for (const events of batches) {
      const stored = await append(events.map(withRequest));
      if (!stored) return undefined;
      for (const [index, event] of events.entries()) places.set(event, { seq: stored[index]?.seq ?? 0 });
    }
    for (const [index, event] of last.entries()) places.set(event, { back: last.length - index });
    const record = await this.#record(session.id, given, written, places);
    const event: EventInput = {
      author: RECORD_AUTHOR,
      invocationId: checkpoint.id,
      actions: stateActions(session, given, written, kept),
      ...recordFields(record),
    };
    const seq = (await append([...last.map(withRequest), event]))?.at(-1)?.seq;
    return seq === undefined ? undefined : { seq, record, lists: knownLists(written, places, seq) };
  }

  async #record(
    thread: string,
    { ns, parent, after, checkpoint, metadata }: PlacedCheckpoint,
    { parts }: WrittenChannels,
    places: ReadonlyMap<EventInput, StoredItem>,
  ): Promise<CheckpointRecord> {
    const { v, id, ts, channel_versions: versions, versions_seen: seen } = checkpoint;
    const values = storedChannels(parts, (event) => places.get(event) ?? { back: 0 });
    const stored = await serializedValue(this.serde, metadata);
    return {
      kind: 'checkpoint',
      thread,
      id,
      ns,
      ...(parent !== undefined && { parent }),
      after,
      v,
      ts,
      versions,
      seen,
      metadata: stored,
      values,
    };
  }
}

/** The items of lists, now that it is known where their events are. */
function knownLists(
  { lists }: WrittenChannels,
  places: ReadonlyMap<EventInput, StoredItem>,
  seq: number,
): KnownCheckpoint['lists'] {
  const known = [...lists].map(([channel, items]): [string, readonly KnownItem[]] => [
    channel,
    items.map((item) => {
      const { fingerprint, id, isCounted } = item;
      const place = 'event' in item && item.event ? places.get(item.event) : undefined;
      const own = 'seq' in item ? item.seq : undefined;
      return { fingerprint, id, isCounted, seq: place ? resolveItemSeq(place, seq) : own };
    }),
  ]);
  return new Map(known);
}

/** The heads, and the values that other readers see as state. */
function stateActions(
  session: Session,
  { ns, checkpoint, isHead }: PlacedCheckpoint,
  { changed, plain }: WrittenChannels,
  kept: Readonly<Record<string, ThreadHead>>,
): NonNullable<EventInput['actions']> {
  const head: ThreadHead = { thread: session.id, id: checkpoint.id };
  const stateDelta: Record<string, unknown> = { ...kept, ...(isHead && { [headKey(ns)]: head }) };
  if (ns !== '') return { stateDelta };
  const shown = changed.filter(
    (name) => !INTERNAL.test(name) && !SCOPED.test(name) && isStateName(name, LONGEST_STATE_KEY),
  );
  const stateRemovals: string[] = [];
  for (const name of shown) {
    if (plain.has(name)) stateDelta[name] = plain.get(name);
    else if (session.state.has(name)) stateRemovals.push(name);
  }
  return { stateDelta, stateRemovals };
}

/** The heads that the state does not show, in parts that an event can have. */
function headsToKeep(session: Session, { kept }: PlacedCheckpoint): Record<string, ThreadHead>[] {
  const missing = [...kept].filter(([key, head]) => session.state.get<ThreadHead>(key)?.id !== head.id);
  const parts: Record<string, ThreadHead>[] = [];
  for (let from = 0; from < missing.length; from += HEADS_PER_EVENT) {
    parts.push(Object.fromEntries(missing.slice(from, from + HEADS_PER_EVENT)));
  }
  return parts;
}
