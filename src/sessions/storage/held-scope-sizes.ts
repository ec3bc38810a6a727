import { GrowingSize } from '../domain/stored/growing-size.js';
import type { StateOwner } from '../domain/values/ids.js';
import type { StateExcess, StateSize } from '../domain/stored/state-size.js';
import { type SharedPart, scopesWritten } from '../domain/stored/stored-json.js';
import type { HeldScopes, PlannedScope } from './planned-write.js';

/**
 * The sizes of the shared scopes of a held session. Others may write to them: the store compares them when it writes.
 *
 * @example const scopes = new HeldScopeSizes({ user: 120, app: 40 }, (owner) => countState(owner));
 */
export class HeldScopeSizes implements HeldScopes {
  readonly #sizes: Readonly<Record<'user' | 'app', GrowingSize>>;

  /**
   * @param bounds how many bytes they have at most
   * @param count counts a scope
   */
  constructor(
    bounds: Readonly<Record<'user' | 'app', number>>,
    private readonly count: (owner: StateOwner) => Promise<StateSize>,
  ) {
    this.#sizes = {
      user: new GrowingSize('user', { atMost: bounds.user }),
      app: new GrowingSize('app', { atMost: bounds.app }),
    };
  }

  async excessOf(commit: SharedPart): Promise<StateExcess | undefined> {
    for (const owner of scopesWritten(commit)) {
      const excess = await this.#sizeOf(owner).excessOf(commit, commit.maxStateBytes, () => this.count(owner));
      if (excess) return excess;
    }
    return undefined;
  }

  add(commit: SharedPart): void {
    for (const owner of scopesWritten(commit)) this.#sizeOf(owner).add(commit);
  }

  /** The size of a scope before the write, if it was counted. */
  countedSize({ owner }: PlannedScope): StateSize | undefined {
    const size = this.#sizeOf(owner);
    return size.isCounted ? size.stored : undefined;
  }

  #sizeOf({ userId }: StateOwner): GrowingSize {
    return this.#sizes[userId === undefined ? 'app' : 'user'];
  }
}
