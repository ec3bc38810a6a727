import type { StoredScope } from '../../../state/scopes.js';
import type { SessionKey, StateOwner } from '../../domain/values/ids.js';
import {
  type StateExcess,
  type StateLimits,
  type StateSize,
  countedSize,
  entryBytes,
  readExcess,
  readExcessError,
  stateExcess,
} from '../../domain/stored/state-size.js';
import type { StateWrites } from '../../domain/stored/stored-json.js';
import type { PlannedEntry } from '../planned-write.js';
import type { StateEntries, StoredState } from '../session-storage.js';

/** The state of one scope. */
export class ScopeState {
  readonly #values = new Map<string, string>();
  #bytes = 0;

  constructor(
    private readonly scope: StoredScope,
    private readonly owner: StateOwner | SessionKey,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  entries(): StateEntries {
    return [...this.#values];
  }

  /** Refuses state that is too large to be read. */
  expectReadable(limits: StateLimits | undefined, isWritten = false): void {
    const excess = readExcess(this.scope, { atMost: this.#bytes }, limits);
    if (excess) throw readExcessError(excess, this.owner, isWritten);
  }

  /** Whether writes would leave more than there may be. */
  excessAfter(writes: StateWrites, limits: StateLimits | undefined): StateExcess | undefined {
    // What the writes replace is looked up only if it matters.
    if (!stateExcess(this.scope, { atMost: this.#bytes }, writes, limits)) return undefined;
    return stateExcess(this.scope, this.#sizeBefore(writes), writes, limits);
  }

  /** The exact size, with what the entries have that are written. */
  #sizeBefore({ upserts, removals }: StateWrites): StateSize {
    const replaced = [...upserts, ...removals].flatMap(({ scope, name }): [string, number][] => {
      const value = scope === this.scope ? this.#values.get(name) : undefined;
      return value === undefined ? [] : [[name, entryBytes(name, value)]];
    });
    return { atMost: this.#bytes, entries: new Map(replaced) };
  }

  /** The exact size, with that of each entry. */
  size(): StateSize {
    return countedSize(this.#values);
  }

  /** Sets and removes keys. */
  put(entries: readonly PlannedEntry[]): void {
    for (const { name, value } of entries) this.#put(name, value);
  }

  /** Sets and removes the keys of this scope. */
  write(writes: StateWrites): void {
    this.put(writtenEntries(this.scope, writes));
  }

  #put(name: string, value: string | undefined): void {
    this.#bytes += countEntryBytes(name, value) - countEntryBytes(name, this.#values.get(name));
    if (value === undefined) this.#values.delete(name);
    else this.#values.set(name, value);
  }
}

function countEntryBytes(name: string, value: string | undefined): number {
  return value === undefined ? 0 : entryBytes(name, value);
}

/** What writes do to one scope. */
export function writtenEntries(ofScope: StoredScope, { upserts, removals }: StateWrites): PlannedEntry[] {
  const entries: PlannedEntry[] = [];
  for (const { scope, name, value } of upserts) if (scope === ofScope) entries.push({ name, value });
  for (const { scope, name } of removals) if (scope === ofScope) entries.push({ name, value: undefined });
  return entries;
}

/** The first scope that would have more than it may have. */
export function excessIn(
  scopes: readonly ScopeState[],
  writes: StateWrites,
  limits: StateLimits | undefined,
): StateExcess | undefined {
  for (const scope of scopes) {
    const excess = scope.excessAfter(writes, limits);
    if (excess) return excess;
  }
  return undefined;
}

/** What a session shows: its own state, its user's and its app's. */
export type ShownScopes = readonly [session: ScopeState, user: ScopeState, app: ScopeState];

export function storedState([session, user, app]: ShownScopes): StoredState {
  return { session: session.entries(), user: user.entries(), app: app.entries() };
}
