import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { StoreUnavailableError } from '../../index.js';
import { revivedValue } from './serialized-value.js';
import type { FoundCheckpoint, ThreadLog } from './thread-log.js';
import { type StoredChannel, type StoredItem, messageItemOf } from './thread-records.js';

/** An item of a list. */
interface ListItem {
  readonly value: unknown;
  /** The event that has it. Missing if the checkpoint itself does. */
  readonly seq?: number;
  /** Whether the event was removed. */
  readonly isGone?: boolean;
}

/** Reads the values of channels, wherever in the log they were written. */
export class ChannelReader {
  readonly #seqs = new WeakMap<readonly unknown[], readonly (number | undefined)[]>();

  constructor(
    private readonly log: ThreadLog,
    private readonly serde: SerializerProtocol,
  ) {}

  /** The values of all channels of a checkpoint. */
  async valuesOf({ seq, record }: FoundCheckpoint): Promise<Record<string, unknown>> {
    const values: [string, unknown][] = [];
    for (const [channel, stored] of Object.entries(record.values)) {
      values.push([channel, await this.#valueOf(channel, stored, seq)]);
    }
    return Object.fromEntries(values);
  }

  /** The events that say the items of a list that was read here. */
  seqsOf(list: readonly unknown[]): readonly (number | undefined)[] {
    return this.#seqs.get(list) ?? [];
  }

  async #valueOf(channel: string, stored: StoredChannel, seq: number): Promise<unknown> {
    if ('at' in stored) return this.#valueOf(channel, await this.#storedAt(channel, stored.at), stored.at);
    if ('value' in stored) return revivedValue(this.serde, stored.value);
    const items = await this.#itemsOf(channel, stored, seq);
    const values = items.map(({ value, seq: place = seq, isGone }) => (isGone ? missing(place) : value));
    this.#seqs.set(
      values,
      items.map(({ seq: place }) => place),
    );
    return values;
  }

  /** Follows a list back to its beginning. */
  async #itemsOf(channel: string, newest: StoredChannel, newestSeq: number): Promise<ListItem[]> {
    const runs: ListItem[][] = [];
    let wanted = Infinity;
    let stored = newest;
    let seq = newestSeq;
    if ('at' in stored) {
      seq = stored.at;
      stored = await this.#storedAt(channel, seq);
    }
    while ('list' in stored && wanted > 0) {
      const { base, keep, items } = stored.list;
      const own = items.slice(0, Math.max(0, wanted - keep));
      const run: ListItem[] = [];
      // The newest one first, since older events are read together with newer ones.
      for (const item of own.toReversed()) run.push(await this.#itemOf(item, seq));
      runs.push(run.toReversed());
      wanted = Math.min(wanted, keep);
      if (base === undefined || wanted === 0) break;
      stored = await this.#storedAt(channel, base);
      seq = base;
    }
    // It was short at first, and stored whole.
    if ('value' in stored && wanted > 0) {
      const values = await revivedValue(this.serde, stored.value);
      runs.push((Array.isArray(values) ? values : []).slice(0, wanted).map((value: unknown) => ({ value })));
    }
    return runs.toReversed().flat(1);
  }

  async #itemOf(item: StoredItem, at: number): Promise<ListItem> {
    if ('type' in item) return { value: await revivedValue(this.serde, item) };
    const seq = 'seq' in item ? item.seq : at - item.back;
    const event = await this.log.at(seq);
    const stored = event && messageItemOf(event);
    return stored ? { seq, value: await revivedValue(this.serde, stored) } : { seq, value: undefined, isGone: true };
  }

  async #storedAt(channel: string, seq: number): Promise<StoredChannel> {
    const event = await this.log.at(seq);
    const record = event && this.log.recordOf(event);
    return (record?.kind === 'checkpoint' ? record.values[channel] : undefined) ?? missing(seq);
  }
}

function missing(seq: number): never {
  throw new StoreUnavailableError(
    `A part of the checkpoint was removed with event ${seq}. Keep the history of sessions with threads (keepHistory).`,
    false,
  );
}
