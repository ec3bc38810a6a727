import { isTempKey } from './scopes.js';
import type { StateChanges } from './state-changes.js';

/** Values as they were loaded, and on top of them what was changed since. */
export class TrackedValues {
  readonly #loaded: Map<string, unknown>;
  readonly #changed = new Map<string, unknown>();
  readonly #removed = new Set<string>();
  /** New values that were deleted again; a save that is under way may store them yet. */
  readonly #dropped = new Map<string, unknown>();

  constructor(initial: Record<string, unknown>) {
    this.#loaded = new Map(Object.entries(initial));
  }

  has(key: string): boolean {
    return this.#changed.has(key) || (this.#loaded.has(key) && !this.#removed.has(key));
  }

  get(key: string): unknown {
    if (this.#changed.has(key)) return this.#changed.get(key);
    return this.#removed.has(key) ? undefined : this.#loaded.get(key);
  }

  /** Setting `undefined` deletes, since JSON has no `undefined`. */
  set(key: string, value: unknown): void {
    if (isTempKey(key) && value !== undefined) {
      // Never saved, so there is nothing to track.
      this.#loaded.set(key, value);
      return;
    }
    if (value === undefined) {
      this.delete(key);
      return;
    }
    this.#removed.delete(key);
    this.#dropped.delete(key);
    this.#changed.set(key, value);
  }

  delete(key: string): boolean {
    const existed = this.has(key);
    if (isTempKey(key)) this.#loaded.delete(key);
    else if (this.#loaded.has(key)) this.#removed.add(key);
    else if (existed) this.#dropped.set(key, this.#changed.get(key));
    this.#changed.delete(key);
    return existed;
  }

  keys(): string[] {
    const kept = [...this.#loaded.keys()].filter((key) => !this.#removed.has(key));
    return [...new Set([...kept, ...this.#changed.keys()])];
  }

  isChanged(): boolean {
    return this.#changed.size > 0 || this.#removed.size > 0;
  }

  pending(): StateChanges {
    return { stateDelta: Object.fromEntries(this.#changed), stateRemovals: [...this.#removed] };
  }

  /** Takes over what is stored by now, below whatever was changed here and is not saved. */
  learn(stored: StateChanges): void {
    for (const [key, value] of Object.entries(stored.stateDelta)) this.#loaded.set(key, value);
    for (const key of stored.stateRemovals) {
      this.#loaded.delete(key);
      this.#removed.delete(key);
    }
  }

  /** Forgets the pending changes that are saved now; what was changed again meanwhile stays pending. */
  settle(saved: StateChanges): void {
    for (const [key, value] of Object.entries(saved.stateDelta)) {
      if (this.#changed.get(key) === value) this.#changed.delete(key);
      if (this.#dropped.get(key) === value && this.#dropped.delete(key)) this.#removed.add(key);
    }
    for (const key of saved.stateRemovals) this.#removed.delete(key);
  }
}
