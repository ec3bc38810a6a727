import { firstIndex } from '../binary-search.js';

const MAX_CHUNK = 512;

/**
 * Items in the order of their keys. They are in chunks, so that a change finds its place by binary search and moves few others.
 *
 * @example
 * const places = new SortedList<ListPosition, Place>(comparePositions);
 * for (const place of places.from(after, 'asc')) console.log(place);
 */
export class SortedList<Key, Item extends Key> {
  readonly #chunks: Item[][] = [[]];
  #size = 0;

  /** @param compare ascending; no two items are equal */
  constructor(private readonly compare: (a: Key, b: Key) => number) {}

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    const [number, index] = this.#placeOf(item);
    const chunk = this.#chunkAt(number);
    chunk.splice(index, 0, item);
    this.#size++;
    if (chunk.length > MAX_CHUNK) this.#chunks.splice(number + 1, 0, chunk.splice(MAX_CHUNK / 2));
  }

  delete(key: Key): void {
    const [number, index] = this.#placeOf(key);
    const chunk = this.#chunkAt(number);
    const item = chunk[index];
    if (item === undefined || this.compare(item, key) !== 0) return;
    chunk.splice(index, 1);
    this.#size--;
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(number, 1);
  }

  /** The items after a key, or all of them, in either order. They must not change meanwhile. */
  *from(after: Key | undefined, order: 'asc' | 'desc'): Generator<Item> {
    const end = this.#chunks.length - 1;
    if (order === 'asc') {
      const [first, begin] = after === undefined ? [0, 0] : this.#placeOf(after);
      for (let number = first; number <= end; number++) {
        const chunk = this.#chunkAt(number);
        for (let index = number === first ? begin : 0; index < chunk.length; index++) {
          const item = chunk[index] as Item;
          if (after === undefined || this.compare(item, after) !== 0) yield item;
        }
      }
      return;
    }
    const [last, limit] = after === undefined ? [end, Infinity] : this.#placeOf(after);
    for (let number = last; number >= 0; number--) {
      const chunk = this.#chunkAt(number);
      for (let index = Math.min(number === last ? limit : Infinity, chunk.length); index-- > 0;)
        yield chunk[index] as Item;
    }
  }

  /** The first item at the key or after it: its chunk, and its index there. */
  #placeOf(key: Key): [number: number, index: number] {
    const last = this.#chunks.length - 1;
    const number = firstIndex(last, (place) => this.compare(this.#chunkAt(place).at(-1) as Item, key) >= 0);
    const chunk = this.#chunkAt(number);
    return [number, firstIndex(chunk.length, (place) => this.compare(chunk[place] as Item, key) >= 0)];
  }

  #chunkAt(number: number): Item[] {
    return this.#chunks[number] as Item[];
  }
}
