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

  get left(): number {
    return Math.max(0, this.maxBytes - this.#taken);
  }

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

/**
 * Sizes batches by the events of earlier ones, so that a batch rarely has more bytes than are left. It expects events as
 * large as the largest of the last batch, or half as large as expected before, if that is more.
 *
 * @example
 * const sizes = new LearnedBatchSize(maxBytes / 8); // the first batch has up to 8 events
 * const batch = await read(sizes.next(wanted, budget.left));
 * sizes.learn(batch);
 */
export class LearnedBatchSize {
  /** @param expected bytes of an event */
  constructor(private expected: number) {}

  /** How many of the wanted events to read next; 0 if the next one probably does not fit. */
  next(wanted: number, leftBytes: number): number {
    return Math.min(wanted, Math.floor(leftBytes / this.expected));
  }

  learn(batch: readonly Pick<StoredEvent, 'payload'>[]): void {
    this.expected = batch.reduce((most, event) => Math.max(most, eventBytes(event)), Math.max(1, this.expected / 2));
  }
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
