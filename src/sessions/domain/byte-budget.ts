import type { StoredEvent } from './commit.js';

/** Events per read, the first and later ones. A batch is in memory before its size is known. */
const FIRST_BATCH = 32;
const BATCH = 64;

/** Views read larger batches, since most views are read completely. */
const FIRST_VIEW_BATCH = 64;
const VIEW_BATCH = 128;

/** Counts bytes up to a limit. The first item always fits, so that every page makes progress. */
export class ByteBudget {
  #taken = 0;
  #isEmpty = true;

  constructor(private readonly maxBytes: number) {}

  /** Reserves the bytes; returns false if they exceed the limit. */
  take(bytes: number): boolean {
    if (!this.#isEmpty && this.#taken + bytes > this.maxBytes) return false;
    this.#isEmpty = false;
    this.#taken += bytes;
    return true;
  }
}

/**
 * How many events to read next, given that `read` of `wanted` are read. The first batch is small, since events may be large.
 *
 * @example
 * for (let size = nextBatchSize(limit, 0); size > 0; size = nextBatchSize(limit, page.length)) …
 */
export function nextBatchSize(wanted: number, read: number): number {
  return Math.min(wanted - read, read === 0 ? FIRST_BATCH : BATCH);
}

/** Like {@link nextBatchSize}, for the events of a view. */
export function nextViewBatchSize(wanted: number, read: number): number {
  return Math.min(wanted - read, read === 0 ? FIRST_VIEW_BATCH : VIEW_BATCH);
}

/** Size of a stored event. */
export function eventBytes({ payload }: Pick<StoredEvent, 'payload'>): number {
  return Buffer.byteLength(payload ?? '');
}

/** Size of stored state: names, and values as JSON text. */
export function entriesBytes(entries: readonly (readonly [name: string, value: string])[]): number {
  return entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
}

/** Bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
