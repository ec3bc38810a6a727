import type { StoredScope } from '../../../state/scopes.js';
import {
  type StateExcess,
  type StateLimits,
  type StateSize,
  readExcess,
  sizeAfter,
  stateExcess,
} from './state-size.js';
import type { StateWrites } from './stored-json.js';

type Count = () => Promise<StateSize>;

/**
 * The size of the state of one scope, to which several writes add before any of them is stored. It begins with the bound that a store
 * keeps. The stored state is counted when that could pass a limit.
 */
export class GrowingSize {
  #stored: StateSize;
  #now: StateSize;
  readonly #added: StateWrites[] = [];

  constructor(
    private readonly scope: StoredScope,
    stored: StateSize,
  ) {
    this.#stored = stored;
    this.#now = stored;
  }

  /** Before the writes. */
  get stored(): StateSize {
    return this.#stored;
  }

  /** With the writes. */
  get atMost(): number {
    return this.#now.atMost;
  }

  get isCounted(): boolean {
    return this.#stored.entries !== undefined;
  }

  add(writes: StateWrites): void {
    this.#added.push(writes);
    this.#now = sizeAfter(this.#now, writes, this.scope);
  }

  /** The stored state was counted. */
  setCounted(stored: StateSize): void {
    this.#stored = stored;
    this.#now = this.#added.reduce((size, writes) => sizeAfter(size, writes, this.scope), stored);
  }

  /** What the writes would have too much, perhaps only because it is not counted. */
  excess(writes: StateWrites, limits: StateLimits | undefined): StateExcess | undefined {
    return stateExcess(this.scope, this.#now, writes, limits);
  }

  /** What the writes would have too much. Counts if the limit might be passed. */
  async excessOf(writes: StateWrites, limits: StateLimits | undefined, count: Count): Promise<StateExcess | undefined> {
    return this.#certain(() => this.excess(writes, limits), count);
  }

  /** Whether it is too large to be read. Counts if it might be. */
  async readExcess(limits: StateLimits | undefined, count: Count): Promise<StateExcess | undefined> {
    return this.#certain(() => readExcess(this.scope, this.#now, limits), count);
  }

  async #certain(find: () => StateExcess | undefined, count: Count): Promise<StateExcess | undefined> {
    if (find() === undefined) return undefined;
    if (!this.isCounted) this.setCounted(await count());
    return find();
  }
}
