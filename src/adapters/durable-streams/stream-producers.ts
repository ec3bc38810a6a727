import { createHash } from 'node:crypto';
import { StreamRefusal } from './stream-errors.js';
import { HEADERS, type Producer } from './stream-headers.js';

/** What is stored of a producer: its last append. */
export interface ProducerState {
  readonly epoch: number;
  readonly seq: number;
}

const PREFIX = 'durable-streams:producer:';

/** The state key of a producer. Ids of any length and kind have one. */
export function producerKey(id: string): string {
  return PREFIX + createHash('sha256').update(id).digest('base64url');
}

export function isProducerKey(key: string): boolean {
  return key.startsWith(PREFIX);
}

/** The stored state, unless somebody else wrote it: clients may set state of their sessions. */
export function producerStateOf(value: unknown): ProducerState | undefined {
  const { epoch, seq } = (value ?? {}) as Partial<ProducerState>;
  return Number.isSafeInteger(epoch) && Number.isSafeInteger(seq) ? (value as ProducerState) : undefined;
}

/** Whether the append is new. Throws if it is from before a restart, or comes too early. */
export function isNewAppend({ epoch, seq }: Producer, state: ProducerState | undefined): boolean {
  if (state && epoch < state.epoch) {
    throw new StreamRefusal(403, 'The producer was restarted since.', { [HEADERS.producerEpoch]: `${state.epoch}` });
  }
  const isNewEpoch = !state || epoch > state.epoch;
  if (state && isNewEpoch && seq !== 0) throw new StreamRefusal(400, 'A new epoch begins with Producer-Seq 0.');
  const expected = isNewEpoch ? 0 : state.seq + 1;
  if (seq > expected) {
    throw new StreamRefusal(409, 'Appends before this one are missing.', {
      [HEADERS.expectedSeq]: `${expected}`,
      [HEADERS.receivedSeq]: `${seq}`,
    });
  }
  return seq === expected;
}
