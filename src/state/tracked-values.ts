import { isTempKey } from './scopes.js';
import type { StateChanges } from './state-changes.js';

interface Change {
  readonly value: unknown;
  readonly at: number;
}

/** Values as they were loaded, and on top of them what was changed since. */
export class TrackedValues {
  readonly #loaded: Map<string, unknown>;
  readonly #changed = new Map<string, Change>();
  /** When keys were removed. */
  readonly #removed = new Map<string, number>();
  /** Keys that are not stored and were deleted again; a save that is under way may store them yet. */
  readonly #dropped = new Set<string>();
  /** Counts changes. */
  #now = 0;
  /** How far changes had come when they were taken to be saved. */
  readonly #takenAt = new WeakMap<StateChanges, number>();

  constructor(initial: Record<string, unknown>) {
    this.#loaded = new Map(Object.entries(initial));
  }

  has(key: string): boolean {
    return this.#changed.has(key) || (this.#loaded.has(key) && !this.#removed.has(key));
  }

  get(key: string): unknown {
    const change = this.#changed.get(key);
    if (change) return change.value;
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
    this.#changed.set(key, { value, at: ++this.#now });
  }

  delete(key: string): boolean {
    const existed = this.has(key);
    if (isTempKey(key)) this.#loaded.delete(key);
    else if (this.#loaded.has(key)) this.#removed.set(key, ++this.#now);
    else if (existed) this.#dropped.add(key);
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
    const values = [...this.#changed].map(([key, { value }]) => [key, value] as const);
    const changes = { stateDelta: Object.fromEntries(values), stateRemovals: [...this.#removed.keys()] };
    this.#takenAt.set(changes, this.#now);
    return changes;
  }

  /** Takes over what is stored by now, below whatever was changed here and is not saved. */
  learn(stored: StateChanges): void {
    for (const [key, value] of Object.entries(stored.stateDelta)) this.#loaded.set(key, value);
    for (const key of stored.stateRemovals) {
      this.#loaded.delete(key);
      if (this.#removed.delete(key)) this.#dropped.add(key);
    }
  }

  /** Forgets the {@link pending} changes that are saved now; what was changed again meanwhile stays pending. */
  settle(saved: StateChanges): void {
    const takenAt = this.#takenAt.get(saved) ?? this.#now;
    // By when and not by what: a value may have been changed inside and set again.
    const isSaved = (at: number | undefined): boolean => at !== undefined && at <= takenAt;
    for (const key of Object.keys(saved.stateDelta)) {
      if (isSaved(this.#changed.get(key)?.at)) this.#changed.delete(key);
      if (this.#dropped.delete(key)) this.#removed.set(key, ++this.#now);
    }
    for (const key of saved.stateRemovals) if (isSaved(this.#removed.get(key))) this.#removed.delete(key);
  }
}
