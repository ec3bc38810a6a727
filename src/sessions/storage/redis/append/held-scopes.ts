import { type StateOwner, scopeOfOwner } from '../../../domain/ids.js';
import { type StateExcess, type StateSize, sizeAfter, stateExcess } from '../../../domain/state-size.js';
import { type SharedPart, type StateWrites, scopesWritten } from '../../../domain/stored-json.js';
import type { HeldScopes, PlannedScope } from '../../planned-write.js';

/** The size of a scope as it is stored, and after the commits that were added. */
interface ScopeSize {
  stored: StateSize;
  after: StateSize;
  readonly added: StateWrites[];
}

/** The shared scopes of a session that is held. Others may write to them: the script compares the sizes that were counted. */
export class RedisHeldScopes implements HeldScopes {
  readonly #sizes: Record<'user' | 'app', ScopeSize>;

  /**
   * @param bounds how many bytes they have at most
   * @param count counts a scope
   */
  constructor(
    bounds: Readonly<Record<'user' | 'app', number>>,
    private readonly count: (owner: StateOwner) => Promise<Required<StateSize>>,
  ) {
    this.#sizes = { user: boundedBy(bounds.user), app: boundedBy(bounds.app) };
  }

  async excessOf(commit: SharedPart): Promise<StateExcess | undefined> {
    for (const owner of scopesWritten(commit)) {
      const scope = scopeOfOwner(owner);
      const size = this.#sizes[scope];
      let excess = stateExcess(scope, size.after, commit, commit.maxStateBytes);
      if (excess && !size.stored.entries) {
        size.stored = await this.count(owner);
        size.after = size.added.reduce((before, writes) => sizeAfter(before, writes, scope), size.stored);
        excess = stateExcess(scope, size.after, commit, commit.maxStateBytes);
      }
      if (excess) return excess;
    }
    return undefined;
  }

  add(commit: SharedPart): void {
    for (const owner of scopesWritten(commit)) {
      const scope = scopeOfOwner(owner);
      const size = this.#sizes[scope];
      size.after = sizeAfter(size.after, commit, scope);
      size.added.push(commit);
    }
  }

  /** The size of a scope before the write, if it was counted. */
  countedSize({ owner }: PlannedScope): StateSize | undefined {
    const { stored } = this.#sizes[owner.userId === undefined ? 'app' : 'user'];
    return stored.entries && stored;
  }
}

function boundedBy(atMost: number): ScopeSize {
  return { stored: { atMost }, after: { atMost }, added: [] };
}
