import { isDeepStrictEqual } from 'node:util';
import { isBaseMessage } from '@langchain/core/messages';
import { type Checkpoint, JsonPlusSerializer, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { EventInput } from '../../index.js';
import { messageEvent } from './message-events.js';
import { countSerializedBytes, fingerprintOf, messageFingerprint, serializedValue } from './serialized-value.js';
import type { FoundCheckpoint } from './thread-log.js';
import type { SerializedValue, StoredChannel, StoredItem } from './thread-records.js';

/** A checkpoint that this process has read or written, so that the next one can be compared with it. */
export interface KnownCheckpoint extends FoundCheckpoint {
  /** The items of lists. */
  readonly lists: ReadonlyMap<string, readonly KnownItem[]>;
}

/** What is known of an item of a list. */
interface ListedItem {
  readonly fingerprint: string;
  /** Of a message. */
  readonly id?: string | undefined;
  /** Whether it is an answer that says what it cost. */
  readonly isCounted: boolean;
}

/** An item of a list that is stored. */
export interface KnownItem extends ListedItem {
  /** The event that says it. */
  readonly seq?: number | undefined;
}

/** A list to write. */
interface ListPart {
  readonly base?: number;
  readonly keep: number;
  readonly items: readonly (AddedMessage | StoredBefore)[];
}

/** A new message of the conversation, and the event that will say it. */
export interface AddedMessage extends ListedItem {
  readonly event: EventInput;
}

/** An item without a new event. */
interface StoredBefore extends KnownItem {
  readonly stored: StoredItem;
  readonly event?: undefined;
}

/** What a checkpoint has to write of one channel. */
type ChannelPart = { readonly kind: 'stored'; readonly stored: StoredChannel } | ({ readonly kind: 'list' } & ListPart);

/** What a checkpoint has to write. */
export interface WrittenChannels {
  readonly parts: ReadonlyMap<string, ChannelPart>;
  readonly lists: ReadonlyMap<string, readonly (KnownItem | AddedMessage)[]>;
  /** Values that other readers of the session see as state. */
  readonly plain: ReadonlyMap<string, unknown>;
  readonly messages: readonly AddedMessage[];
  /** The channels that have new values. */
  readonly changed: readonly string[];
}

type ChannelsOf = Pick<Checkpoint, 'channel_values' | 'channel_versions'>;

/** Longer arrays are written item by item, and longer values are not shown as state. */
const SHORT_BYTES = 4_096;
/** Less than an event may have. */
const DEEPEST = 32;

/** Writes what is new in the values of channels. */
export class ChannelWriter {
  readonly #plain: SerializerProtocol = new JsonPlusSerializer();

  /** @param isEncrypting whether texts of the same value differ */
  constructor(
    private readonly serde: SerializerProtocol,
    private readonly isEncrypting: boolean,
  ) {}

  /**
   * Compares the values with those of earlier checkpoints, first of the one that this one continues.
   *
   * @param given the channels that changed. Otherwise, those without a known value of their version did
   * @param shows the channel whose messages become events that other readers understand. Then short values become state, too.
   */
  async write(
    { channel_values: values, channel_versions: versions }: ChannelsOf,
    given: Readonly<Record<string, unknown>> | undefined,
    known: readonly KnownCheckpoint[],
    shows: string | undefined,
  ): Promise<WrittenChannels> {
    const parts = new Map<string, ChannelPart>();
    const lists = new Map<string, readonly (KnownItem | AddedMessage)[]>();
    const plain = new Map<string, unknown>();
    const changed: string[] = [];
    const [base] = known;
    for (const channel of Object.keys(versions)) {
      if (!given || !Object.hasOwn(given, channel)) {
        const isThere = carryOver(channel, versions, known, parts, lists);
        if (isThere || given) continue;
      }
      changed.push(channel);
      if (!Object.hasOwn(values, channel)) continue;
      const value = values[channel];
      const whole = hasMessages(value) ? undefined : await serializedValue(this.serde, value);
      if (whole && !(Array.isArray(value) && countSerializedBytes(whole) > SHORT_BYTES)) {
        parts.set(channel, { kind: 'stored', stored: { value: whole } });
        if (shows !== undefined && countSerializedBytes(whole) <= SHORT_BYTES && isPlain(value, whole))
          plain.set(channel, value);
        continue;
      }
      const before = base && findEarlierList(channel, base);
      const part = await this.#list(value as readonly unknown[], before, shows === channel);
      parts.set(channel, { kind: 'list', ...part });
      lists.set(channel, [...(before?.items.slice(0, part.keep) ?? []), ...part.items]);
    }
    // Of a channel that nobody wrote to, what it begins with.
    for (const channel of Object.keys(values)) {
      if (Object.hasOwn(versions, channel)) continue;
      parts.set(channel, { kind: 'stored', stored: { value: await serializedValue(this.serde, values[channel]) } });
    }
    const messages: AddedMessage[] = [];
    for (const part of parts.values()) {
      if (part.kind === 'list') for (const item of part.items) if (item.event) messages.push(item);
    }
    return { parts, lists, plain, messages, changed };
  }

  /** The items of lists that were read. */
  async itemsOf(
    values: Readonly<Record<string, unknown>>,
    seqsOf: (list: readonly unknown[]) => readonly (number | undefined)[],
  ): Promise<Map<string, readonly KnownItem[]>> {
    const lists = new Map<string, readonly KnownItem[]>();
    for (const [channel, value] of Object.entries(values)) {
      if (!Array.isArray(value)) continue;
      const seqs = seqsOf(value);
      const items = value.map(async (item: unknown, index): Promise<KnownItem> => {
        return { ...listedItem(item, await this.#fingerprint(item)), seq: seqs[index] };
      });
      lists.set(channel, await Promise.all(items));
    }
    return lists;
  }

  async #list(value: readonly unknown[], before: EarlierList | undefined, isShown: boolean): Promise<ListPart> {
    const fingerprints: string[] = [];
    for (const item of value) fingerprints.push(await this.#fingerprint(item));
    const earlier = before?.items ?? [];
    const changed = fingerprints.findIndex((fingerprint, index) => fingerprint !== earlier[index]?.fingerprint);
    const keep = changed === -1 ? fingerprints.length : changed;
    const said = isShown ? saidBefore(fingerprints.slice(keep), earlier.slice(keep)) : [];
    const counted = new Set(earlier.flatMap((item) => (item.isCounted ? [identifyMessage(item)] : [])));
    const items = await Promise.all(
      value.slice(keep).map(async (item, index): Promise<AddedMessage | StoredBefore> => {
        const listed = listedItem(item, fingerprints[keep + index] ?? '');
        const seq = said[index];
        if (seq !== undefined) return { ...listed, seq, stored: { seq } };
        const stored = await serializedValue(this.serde, item);
        if (!isShown || !isBaseMessage(item)) return { ...listed, stored };
        const { usageMetadata, ...event } = messageEvent(item, stored);
        // What an answer cost is said once, however often the answer is.
        const isNew = usageMetadata && !counted.has(identifyMessage(listed));
        return { ...listed, event: { ...event, ...(isNew && { usageMetadata }) } };
      }),
    );
    return { keep, items, ...(before && keep > 0 && { base: before.seq }) };
  }

  async #fingerprint(item: unknown): Promise<string> {
    return (
      messageFingerprint(item) ??
      fingerprintOf(await serializedValue(this.isEncrypting ? this.#plain : this.serde, item))
    );
  }
}

/** A list that an earlier checkpoint has. */
interface EarlierList {
  readonly seq: number;
  readonly items: readonly KnownItem[];
}

/**
 * The events that say the items already, until the first one that none says: the log has the order of the list, so what follows a message
 * that was changed or put between is said again, and what follows one that was removed is not.
 */
function saidBefore(fingerprints: readonly string[], earlier: readonly KnownItem[]): number[] {
  const seqs: number[] = [];
  const said = earlier.map((item) => item.fingerprint);
  let next = 0;
  for (const fingerprint of fingerprints) {
    const place = said.indexOf(fingerprint, next);
    const seq = earlier[place]?.seq;
    if (seq === undefined) break;
    seqs.push(seq);
    next = place + 1;
  }
  return seqs;
}

function listedItem(item: unknown, fingerprint: string): ListedItem {
  if (!isBaseMessage(item)) return { fingerprint, isCounted: false };
  return { fingerprint, id: item.id, isCounted: 'usage_metadata' in item && item.usage_metadata !== undefined };
}

/** A graph gives each message of its state an id. Those that it only gives to models may have none. */
export function identifyMessage({ id, fingerprint }: Partial<Pick<ListedItem, 'id' | 'fingerprint'>>): string {
  return id ?? fingerprint ?? '';
}

function hasMessages(value: unknown): boolean {
  return Array.isArray(value) && value.some(isBaseMessage);
}

/** Whether the value is JSON that state can hold: no object of a class, and no half of a surrogate pair. */
function isPlain(value: unknown, { text }: SerializedValue): boolean {
  return (
    text !== undefined &&
    !text.includes('\\ud') &&
    isDeepStrictEqual(JSON.parse(text), value) &&
    depthOf(value) <= DEEPEST
  );
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce((deepest: number, each) => Math.max(deepest, depthOf(each)), 0);
}

/** A channel that did not change has its value where an earlier checkpoint wrote it. Returns whether one is known that did. */
function carryOver(
  channel: string,
  versions: Readonly<Record<string, number | string>>,
  known: readonly KnownCheckpoint[],
  parts: Map<string, ChannelPart>,
  lists: Map<string, readonly (KnownItem | AddedMessage)[]>,
): boolean {
  const owner = known.find(({ record }) => record.versions[channel] === versions[channel]);
  const stored = owner?.record.values[channel];
  if (!owner || !stored) return false;
  parts.set(channel, { kind: 'stored', stored: 'at' in stored ? stored : { at: owner.seq } });
  const items = owner.lists.get(channel);
  if (items) lists.set(channel, items);
  return true;
}

function findEarlierList(channel: string, { record, seq, lists }: KnownCheckpoint): EarlierList | undefined {
  const stored = record.values[channel];
  const items = lists.get(channel);
  if (!stored || 'value' in stored || !items) return undefined;
  return { seq: 'at' in stored ? stored.at : seq, items };
}

/** The values of a checkpoint's record, once it is known how its messages can be found. */
export function storedChannels(
  parts: WrittenChannels['parts'],
  placeOf: (event: EventInput) => StoredItem,
): Record<string, StoredChannel> {
  const values = [...parts].map(([channel, part]): [string, StoredChannel] => {
    if (part.kind === 'stored') return [channel, part.stored];
    const { base, keep, items } = part;
    const places = items.map((item) => (item.event ? placeOf(item.event) : item.stored));
    return [channel, { list: { keep, items: places, ...(base !== undefined && { base }) } }];
  });
  return Object.fromEntries(values);
}
