import { hash } from 'node:crypto';
import {
  type CheckpointPendingWrite,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import { RESERVED } from '../../adapter.js';
import type { EventInput } from '../../index.js';
import { inByteOrder } from '../shared/byte-order.js';
import { revivedValue, serializedValue } from './serialized-value.js';
import { RECORD_AUTHOR, type SerializedValue, type WritesRecord, recordFields } from './thread-records.js';

/** The writes of a task, for the log. */
export async function writesEvent(
  serde: SerializerProtocol,
  { thread, ns, checkpoint, task, path }: Omit<WritesRecord, 'kind' | 'writes'>,
  given: readonly PendingWrite[],
): Promise<EventInput> {
  const writes = await Promise.all(
    given.map(async ([channel, value], index): Promise<WritesRecord['writes'][number]> => [
      WRITES_IDX_MAP[channel] ?? index,
      channel,
      await serializedValue(serde, value),
    ]),
  );
  const record: WritesRecord = { kind: 'writes', thread, ns, checkpoint, task, path, writes };
  // The first write of a task counts, so a repeated call may be the same event. Of errors and interrupts, the last one counts.
  const isRepeatable = writes.every(([index]) => index >= 0);
  return {
    ...(isRepeatable && { id: RESERVED.ids.graphWrites + hash('sha256', JSON.stringify(record), 'base64url') }),
    author: RECORD_AUTHOR,
    invocationId: checkpoint,
    ...recordFields(record),
  };
}

interface Write {
  readonly path: string;
  readonly task: string;
  readonly index: number;
  readonly channel: string;
  readonly value: SerializedValue;
}

/** The writes that count, in the order in which a run applies them. */
export async function pendingWrites(
  serde: SerializerProtocol,
  records: readonly WritesRecord[],
): Promise<CheckpointPendingWrite[]> {
  const writes = new Map<string, Write>();
  for (const { task, path, writes: given } of records) {
    for (const [index, channel, value] of given) {
      const key = JSON.stringify([task, index]);
      if (index < 0 || !writes.has(key)) writes.set(key, { path, task, index, channel, value });
    }
  }
  const ordered = [...writes.values()].toSorted(inOrder);
  return Promise.all(
    ordered.map(async ({ task, channel, value }): Promise<CheckpointPendingWrite> => [
      task,
      channel,
      await revivedValue(serde, value),
    ]),
  );
}

function inOrder(a: Write, b: Write): number {
  return inByteOrder(a.path, b.path) || inByteOrder(a.task, b.task) || a.index - b.index;
}
