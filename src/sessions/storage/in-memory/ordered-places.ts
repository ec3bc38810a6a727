import { comparePositions } from '../list-order.js';
import type { ListPosition } from '../session-storage.js';
import { firstIndex } from '../binary-search.js';

const ASCENDING = { order: 'asc' } as const;
const MAX_CHUNK = 512;

/** Something at its position in a list. */
export interface Place<Item> extends ListPosition {
  readonly item: Item;
}

/**
 * Places in ascending order. They are stored in chunks, so a change finds its chunk by binary search and moves only what
 * is in it.
 */
export class OrderedPlaces<Item> {
  readonly #chunks: Place<Item>[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(place: Place<Item>): void {
    if (this.#isAddedAtEnd(place)) return;
    const number = this.#chunkOf(place);
    const chunk = this.#chunks[number];
    this.#size++;
    if (!chunk) {
      this.#chunks.push([place]);
      return;
    }
    chunk.splice(indexFrom(chunk, place), 0, place);
    if (chunk.length > MAX_CHUNK) this.#chunks.splice(number + 1, 0, chunk.splice(MAX_CHUNK / 2));
  }

  /** The usual case: whatever was changed last is the last one. */
  #isAddedAtEnd(place: Place<Item>): boolean {
    const chunk = this.#chunks.at(-1);
    const last = chunk?.at(-1);
    if (!chunk || !last || chunk.length >= MAX_CHUNK || comparePositions(last, place, ASCENDING) >= 0) return false;
    chunk.push(place);
    this.#size++;
    return true;
  }

  delete(position: ListPosition): void {
    const number = this.#chunkOf(position);
    const chunk = this.#chunks[number] ?? [];
    const index = indexFrom(chunk, position);
    const place = chunk[index];
    if (!place || comparePositions(place, position, ASCENDING) !== 0) return;
    chunk.splice(index, 1);
    this.#size--;
    if (chunk.length === 0) this.#chunks.splice(number, 1);
  }

  /** How many places have this time or an earlier one. */
  countUpTo(time: number): number {
    let count = 0;
    for (const chunk of this.#chunks) {
      const last = chunk.at(-1);
      if (last && last.time > time) {
        return count + firstIndex(chunk.length, (index) => (chunk[index] as Place<Item>).time > time);
      }
      count += chunk.length;
    }
    return count;
  }

  /** The places after a position, or all of them, in either order. They must not change meanwhile. */
  *from(after: ListPosition | undefined, order: 'asc' | 'desc'): Generator<Place<Item>> {
    const isBackwards = order === 'desc';
    const step = isBackwards ? -1 : 1;
    let number = isBackwards ? this.#chunks.length - 1 : 0;
    if (after) number = this.#chunkOf(after);
    for (let isFirst = true; number >= 0 && number < this.#chunks.length; number += step, isFirst = false) {
      const chunk = this.#chunks[number] as Place<Item>[];
      let index = isBackwards ? chunk.length - 1 : 0;
      if (after && isFirst) {
        index = indexFrom(chunk, after);
        const isThere = index < chunk.length && comparePositions(chunk[index] as Place<Item>, after, ASCENDING) === 0;
        if (isBackwards) index--;
        else if (isThere) index++;
      }
      for (; index >= 0 && index < chunk.length; index += step) yield chunk[index] as Place<Item>;
    }
  }

  /** The last chunk that begins at the position or before, or else the first one. */
  #chunkOf(position: ListPosition): number {
    const next = firstIndex(
      this.#chunks.length,
      (number) => comparePositions(this.#chunks[number]?.[0] as Place<Item>, position, ASCENDING) > 0,
    );
    return Math.max(0, next - 1);
  }
}

/** The first place at the position or after it. */
function indexFrom(chunk: readonly ListPosition[], position: ListPosition): number {
  return firstIndex(chunk.length, (index) => comparePositions(chunk[index] as ListPosition, position, ASCENDING) >= 0);
}
