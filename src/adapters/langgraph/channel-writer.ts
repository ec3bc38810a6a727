import { isDeepStrictEqual } from 'node:util';
import { isBaseMessage } from '@langchain/core/messages';
import { type Checkpoint, JsonPlusSerializer, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { EventInput } from '../../index.js';
import { messageEvent } from './message-events.js';
import { bytesOf, fingerprintOf, messageFingerprint, serializedValue } from './serialized-value.js';
import type { FoundCheckpoint } from './thread-log.js';
import type { SerializedValue, StoredChannel, StoredItem } from './thread-records.js';

/** A checkpoint that this process has read or written, so that the next one can be compared with it. */
export interface KnownCheckpoint extends FoundCheckpoint {
  /** The fingerprints of the items of lists. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
}

/** A list to write. */
interface ListPart {
  readonly base?: number;
  readonly keep: number;
  readonly items: readonly (AddedMessage | { readonly stored: SerializedValue; readonly event?: undefined })[];
}

/** A new message of the conversation, and the event that will say it. */
export interface AddedMessage {
  readonly id: string | undefined;
  readonly stored: SerializedValue;
  readonly event: EventInput;
}

/** What a checkpoint has to write of one channel. */
type ChannelPart = { readonly kind: 'stored'; readonly stored: StoredChannel } | ({ readonly kind: 'list' } & ListPart);

/** What a checkpoint has to write. */
export interface WrittenChannels {
  readonly parts: ReadonlyMap<string, ChannelPart>;
  readonly lists: ReadonlyMap<string, readonly string[]>;
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
    const lists = new Map<string, readonly string[]>();
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
      if (whole && !(Array.isArray(value) && bytesOf(whole) > SHORT_BYTES)) {
        parts.set(channel, { kind: 'stored', stored: { value: whole } });
        if (shows !== undefined && bytesOf(whole) <= SHORT_BYTES && isPlain(value, whole)) plain.set(channel, value);
        continue;
      }
      const { part, fingerprints } = await this.#list(
        value as readonly unknown[],
        base && listOf(channel, base),
        shows === channel,
      );
      parts.set(channel, { kind: 'list', ...part });
      lists.set(channel, fingerprints);
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

  /** The fingerprints of lists that were read. */
  async fingerprints(values: Readonly<Record<string, unknown>>): Promise<Map<string, readonly string[]>> {
    const lists = new Map<string, readonly string[]>();
    for (const [channel, value] of Object.entries(values)) {
      if (!Array.isArray(value)) continue;
      lists.set(channel, await Promise.all(value.map((item: unknown) => this.#fingerprint(item))));
    }
    return lists;
  }

  async #list(
    value: readonly unknown[],
    before: EarlierList | undefined,
    isShown: boolean,
  ): Promise<{ readonly part: ListPart; readonly fingerprints: readonly string[] }> {
    const fingerprints: string[] = [];
    for (const item of value) fingerprints.push(await this.#fingerprint(item));
    const changed = fingerprints.findIndex((fingerprint, index) => fingerprint !== before?.fingerprints[index]);
    const keep = changed === -1 ? fingerprints.length : changed;
    const items = await Promise.all(
      value.slice(keep).map(async (item) => {
        const stored = await serializedValue(this.serde, item);
        return isShown && isBaseMessage(item) ? { id: item.id, stored, event: messageEvent(item, stored) } : { stored };
      }),
    );
    return { part: { keep, items, ...(before && keep > 0 && { base: before.seq }) }, fingerprints };
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
  readonly fingerprints: readonly string[];
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
  lists: Map<string, readonly string[]>,
): boolean {
  const owner = known.find(({ record }) => record.versions[channel] === versions[channel]);
  const stored = owner?.record.values[channel];
  if (!owner || !stored) return false;
  parts.set(channel, { kind: 'stored', stored: 'at' in stored ? stored : { at: owner.seq } });
  const fingerprints = owner.lists.get(channel);
  if (fingerprints) lists.set(channel, fingerprints);
  return true;
}

function listOf(channel: string, { record, seq, lists }: KnownCheckpoint): EarlierList | undefined {
  const stored = record.values[channel];
  const fingerprints = lists.get(channel);
  if (!stored || 'value' in stored || !fingerprints) return undefined;
  return { seq: 'at' in stored ? stored.at : seq, fingerprints };
}

/** The values of a checkpoint's record, once it is known how its messages can be found. */
export function storedChannels(
  parts: WrittenChannels['parts'],
  placeOf: (event: EventInput) => StoredItem,
): Record<string, StoredChannel> {
  const values = [...parts].map(([channel, part]): [string, StoredChannel] => {
    if (part.kind === 'stored') return [channel, part.stored];
    const { base, keep, items } = part;
    const places = items.map(({ stored, event }) => (event ? placeOf(event) : stored));
    return [channel, { list: { keep, items: places, ...(base !== undefined && { base }) } }];
  });
  return Object.fromEntries(values);
}
