import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { StoreUnavailableError } from '../../index.js';
import { revivedValue } from './serialized-value.js';
import type { FoundCheckpoint, ThreadLog } from './thread-log.js';
import { type SerializedValue, type StoredChannel, type StoredItem, messageItemOf } from './thread-records.js';

/** Reads the values of channels, wherever in the log they were written. */
export class ChannelReader {
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

  async #valueOf(channel: string, stored: StoredChannel, seq: number): Promise<unknown> {
    if ('at' in stored) return this.#valueOf(channel, await this.#storedAt(channel, stored.at), stored.at);
    if ('value' in stored) return revivedValue(this.serde, stored.value);
    return this.#itemsOf(channel, stored, seq);
  }

  /** Follows a list back to its beginning. */
  async #itemsOf(channel: string, newest: StoredChannel, newestSeq: number): Promise<unknown[]> {
    const runs: unknown[][] = [];
    let wanted = Infinity;
    let stored = newest;
    let seq = newestSeq;
    while ('list' in stored && wanted > 0) {
      const { base, keep, items } = stored.list;
      const own = items.slice(0, Math.max(0, wanted - keep));
      const run: SerializedValue[] = [];
      // The newest one first, since older events are read together with newer ones.
      for (const item of own.toReversed()) run.push(await this.#itemOf(item, seq));
      runs.push(await Promise.all(run.toReversed().map((item) => revivedValue(this.serde, item))));
      wanted = Math.min(wanted, keep);
      if (base === undefined || wanted === 0) break;
      stored = await this.#storedAt(channel, base);
      seq = base;
    }
    // It was short at first, and stored whole.
    if ('value' in stored) runs.push(((await revivedValue(this.serde, stored.value)) as unknown[]).slice(0, wanted));
    return runs.toReversed().flat(1);
  }

  async #itemOf(item: StoredItem, seq: number): Promise<SerializedValue> {
    if ('type' in item) return item;
    const place = 'seq' in item ? item.seq : seq - item.back;
    const event = await this.log.at(place);
    return (event && messageItemOf(event)) ?? missing(place);
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
