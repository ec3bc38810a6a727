import type { StoredEvent } from './commit.js';
import { entryBytes } from './state-size.js';

/**
 * Events or sessions in one read of a store. Bytes limit the memory of a read; this limits how long it occupies the store.
 */
export const MOST_PER_READ = 2_000;

/** Counts bytes up to a limit. The first item always fits, so that every page makes progress. */
export class ByteBudget {
  #taken = 0;
  #isEmpty = true;

  constructor(private readonly maxBytes: number) {}

  /** At least one, so that a read with this limit makes progress. */
  get left(): number {
    return Math.max(1, this.maxBytes - this.#taken);
  }

  /** Reserves the bytes; returns false if they exceed the limit. */
  take(bytes: number): boolean {
    if (!this.#isEmpty && this.#taken + bytes > this.maxBytes) return false;
    this.#isEmpty = false;
    this.#taken += bytes;
    return true;
  }
}

/** Size of a stored event. */
export function eventBytes(event: Pick<StoredEvent, 'payload' | 'bytes'>): number {
  return event.bytes ?? Buffer.byteLength(event.payload ?? '');
}

/** Size of stored events together. */
export function eventsBytes(events: readonly Pick<StoredEvent, 'payload' | 'bytes'>[]): number {
  return events.reduce((sum, event) => sum + eventBytes(event), 0);
}

/** The bytes of stored state. */
export function entriesBytes(entries: Iterable<readonly [name: string, value: string]>): number {
  let bytes = 0;
  for (const [name, value] of entries) bytes += entryBytes(name, value);
  return bytes;
}

/** Bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
