import { isDeepStrictEqual } from 'node:util';
import {
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type SerializerProtocol,
  TASKS,
  maxChannelVersion,
} from '@langchain/langgraph-checkpoint';
import { ChannelReader } from './channel-reader.js';
import { pendingWrites } from './pending-writes.js';
import { revivedValue } from './serialized-value.js';
import { type ThreadAddress, checkpointIdOf, createCheckpointConfig, namespaceOf } from './thread-address.js';
import type { CheckpointWithWrites, FoundCheckpoint, ThreadLog } from './thread-log.js';
import type { CheckpointRecord, WritesRecord } from './thread-records.js';
import type { RunnableConfig } from '@langchain/core/runnables';

/** Makes the checkpoints that LangGraph gets from the log of a thread. */
export class TupleReader {
  readonly #channels: ChannelReader;

  constructor(
    private readonly log: ThreadLog,
    private readonly serde: SerializerProtocol,
    private readonly nextVersion: (current: number | undefined) => number,
  ) {
    this.#channels = new ChannelReader(log, serde);
  }

  async tuple(address: ThreadAddress, found: CheckpointWithWrites): Promise<CheckpointTuple> {
    const { id, parent, metadata } = found.record;
    return {
      config: createCheckpointConfig(address, id),
      checkpoint: await this.checkpoint(address, found),
      metadata: (await revivedValue(this.serde, metadata)) as CheckpointMetadata,
      pendingWrites: await pendingWrites(this.serde, found.writes),
      ...(parent !== undefined && { parentConfig: createCheckpointConfig(address, parent) }),
    };
  }

  /** The checkpoints of a thread, newest first. */
  async *list(
    key: ThreadAddress['key'],
    config: RunnableConfig,
    { before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const [wantedNs, wantedId] = [namespaceOf(config), checkpointIdOf(config)];
    const beforeId = before && checkpointIdOf(before);
    const writes = new Map<string, WritesRecord[]>();
    const listed = new Set<string>();
    for await (const event of this.log.newestFirst()) {
      const record = this.log.recordOf(event);
      if (!record || (wantedNs !== undefined && record.ns !== wantedNs)) continue;
      const name = JSON.stringify([record.ns, record.kind === 'writes' ? record.checkpoint : record.id]);
      if (record.kind === 'writes') {
        writes.set(name, [record, ...(writes.get(name) ?? [])]);
        continue;
      }
      if (listed.has(name)) continue;
      listed.add(name);
      const isWanted = wantedId === undefined || record.id === wantedId;
      if (!isWanted || (beforeId !== undefined && record.id >= beforeId)) continue;
      if (!(await this.#fits(record, filter))) continue;
      const found = { seq: event.seq, record };
      const earlier = await this.log.writesBefore(found);
      yield this.tuple({ key, ns: record.ns }, { ...found, writes: [...earlier, ...(writes.get(name) ?? [])] });
    }
  }

  /** The events that say the items of a list of a checkpoint that was read here. */
  seqsOf(list: readonly unknown[]): readonly (number | undefined)[] {
    return this.#channels.seqsOf(list);
  }

  /** The checkpoint itself, with the values of all channels. */
  async checkpoint({ ns }: ThreadAddress, found: FoundCheckpoint): Promise<Checkpoint> {
    const { v, id, ts, versions, seen, parent } = found.record;
    const checkpoint: Checkpoint = {
      v,
      id,
      ts,
      channel_values: await this.#channels.valuesOf(found),
      channel_versions: { ...versions },
      versions_seen: structuredClone(seen),
    };
    if (v < 4 && parent !== undefined) await this.#addPendingSends(checkpoint, ns, parent);
    return checkpoint;
  }

  async #fits({ metadata }: CheckpointRecord, filter: CheckpointListOptions['filter'] = {}): Promise<boolean> {
    const wanted: [string, unknown][] = Object.entries(filter);
    if (wanted.length === 0) return true;
    const fields = (await revivedValue(this.serde, metadata)) as Record<string, unknown>;
    return wanted.every(([name, value]) => isDeepStrictEqual(fields[name], value));
  }

  /** Before version 4, sends were writes to the parent. */
  async #addPendingSends(checkpoint: Checkpoint, ns: string, parentId: string): Promise<void> {
    const parent = await this.log.checkpoint(ns, parentId);
    const writes = await pendingWrites(this.serde, parent?.writes ?? []);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.nextVersion(undefined);
  }
}
