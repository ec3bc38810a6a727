import { isTempKey } from './scopes.js';
import type { StateChanges } from './state-changes.js';

/** The checks of a save cover deeper values. Also stops at cycles. */
const MAX_DEPTH = 256;

interface Change {
  readonly value: unknown;
  readonly at: number;
}

/** A snapshot that {@link TrackedValues.pending} returned. */
interface Taken {
  /** Value of the change counter. */
  readonly at: number;
  /** The plain objects among the values, as JSON text. */
  readonly texts: ReadonlyMap<string, string>;
}

/** What changed since values were loaded. */
class Changes {
  readonly assigned = new Map<string, Change>();
  /** Removed keys, with the change counter. */
  readonly removed = new Map<string, number>();
  /** New keys that were deleted again; a running save may still store them. */
  readonly dropped = new Set<string>();
  /** The change counter. */
  now = 0;
  readonly taken = new WeakMap<StateChanges, Taken>();

  assign(key: string, value: unknown): void {
    this.assigned.set(key, { value, at: ++this.now });
  }

  remove(key: string): void {
    this.removed.set(key, ++this.now);
  }
}

/** Loaded values, and the changes since: assigned, removed or mutated. */
export class TrackedValues {
  readonly #loaded: Map<string, unknown>;
  /** Made for the first change, since most states of a list are only read. */
  #made: Changes | undefined;
  /** Loaded objects that were handed out, as JSON text, since callers can mutate them. Made for the first one. */
  #handedOut: Map<string, string> | undefined;

  constructor(initial: Record<string, unknown>) {
    this.#loaded = new Map(Object.entries(initial));
  }

  get #changes(): Changes {
    return (this.#made ??= new Changes());
  }

  has(key: string): boolean {
    return this.#isAssigned(key) || (this.#loaded.has(key) && !this.#isRemoved(key));
  }

  /** The value, for callers who may mutate it; {@link pending} finds mutations. */
  get(key: string): unknown {
    const value = this.peek(key);
    if (!isObject(value) || isTempKey(key) || this.#isAssigned(key) || this.#handedOut?.has(key)) return value;
    const text = jsonText(value);
    if (text !== undefined) this.#handOut(key, text);
    return value;
  }

  /** The value, for code that only reads it. */
  peek(key: string): unknown {
    const change = this.#made?.assigned.get(key);
    if (change) return change.value;
    return this.#isRemoved(key) ? undefined : this.#loaded.get(key);
  }

  /** Setting `undefined` deletes, since JSON has no `undefined`. */
  set(key: string, value: unknown): void {
    if (isTempKey(key) && value !== undefined) {
      // Never saved, so not tracked.
      this.#loaded.set(key, value);
      return;
    }
    if (value === undefined) {
      this.delete(key);
      return;
    }
    const changes = this.#changes;
    changes.removed.delete(key);
    changes.dropped.delete(key);
    changes.assign(key, value);
  }

  delete(key: string): boolean {
    const existed = this.has(key);
    if (isTempKey(key)) this.#loaded.delete(key);
    else if (this.#loaded.has(key)) this.#changes.remove(key);
    else if (existed) this.#changes.dropped.add(key);
    this.#made?.assigned.delete(key);
    return existed;
  }

  keys(): string[] {
    if (!this.#made) return [...this.#loaded.keys()];
    const kept = [...this.#loaded.keys()].filter((key) => !this.#isRemoved(key));
    return [...new Set([...kept, ...this.#made.assigned.keys()])];
  }

  isChanged(): boolean {
    return this.pendingKeys().length > 0;
  }

  /** The keys that {@link pending} would give. */
  pendingKeys(): string[] {
    const changedInside = this.#handedOutKeys().filter((key) => this.#isChangedInside(key));
    if (!this.#made) return changedInside;
    return [...this.#made.assigned.keys(), ...changedInside, ...this.#made.removed.keys()];
  }

  pending(): StateChanges {
    for (const key of this.#handedOutKeys()) this.#noteInnerChange(key);
    const { assigned, removed, now, taken } = this.#changes;
    const values = [...assigned].map(([key, { value }]) => [key, value] as const);
    const changes = { stateDelta: Object.fromEntries(values), stateRemovals: [...removed.keys()] };
    taken.set(changes, { at: now, texts: new Map(values.flatMap(plainObjectText)) });
    return changes;
  }

  /** Applies stored changes. Unsaved changes take precedence. */
  applyStored(stored: StateChanges): void {
    for (const key of Object.keys(stored.stateDelta)) {
      const value = stored.stateDelta[key];
      if (this.#isAlready(key, value)) continue;
      this.#noteInnerChange(key);
      this.#handedOut?.delete(key);
      this.#loaded.set(key, value);
    }
    for (const key of stored.stateRemovals) {
      this.#noteInnerChange(key);
      this.#handedOut?.delete(key);
      this.#loaded.delete(key);
      if (this.#made?.removed.delete(key)) this.#made.dropped.add(key);
    }
  }

  /** Clears the saved changes that {@link pending} returned. Later changes stay pending. */
  markSaved(saved: StateChanges): void {
    const changes = this.#changes;
    const { at: takenAt, texts } = changes.taken.get(saved) ?? { at: changes.now, texts: new Map<string, string>() };
    // Compares the counter, not the value: a value may have been mutated and set again.
    const isSaved = (at: number | undefined): boolean => at !== undefined && at <= takenAt;
    for (const key of Object.keys(saved.stateDelta)) {
      const change = changes.assigned.get(key);
      if (isSaved(change?.at)) {
        changes.assigned.delete(key);
        this.#keepObject(key, change?.value, texts.get(key));
      }
      if (changes.dropped.delete(key)) changes.remove(key);
    }
    for (const key of saved.stateRemovals) if (isSaved(changes.removed.get(key))) changes.removed.delete(key);
  }

  #isAssigned(key: string): boolean {
    return this.#made?.assigned.has(key) ?? false;
  }

  #isRemoved(key: string): boolean {
    return this.#made?.removed.has(key) ?? false;
  }

  #handOut(key: string, text: string): void {
    this.#handedOut ??= new Map();
    this.#handedOut.set(key, text);
  }

  #handedOutKeys(): string[] {
    return this.#handedOut ? [...this.#handedOut.keys()] : [];
  }

  /** Whether the loaded value was mutated after it was handed out. */
  #isChangedInside(key: string): boolean {
    const before = this.#handedOut?.get(key);
    if (before === undefined || this.#isAssigned(key) || this.#isRemoved(key)) return false;
    return jsonText(this.#loaded.get(key)) !== before;
  }

  /** Records a mutation as a change of the whole value. */
  #noteInnerChange(key: string): void {
    if (!this.#isChangedInside(key)) return;
    this.#handedOut?.delete(key);
    this.#changes.assign(key, this.#loaded.get(key));
  }

  /** Whether the handed-out object equals the stored value, because an event carried the mutation. */
  #isAlready(key: string, stored: unknown): boolean {
    if (!this.#handedOut?.has(key)) return false;
    const text = jsonText(stored);
    if (text === undefined || jsonText(this.#loaded.get(key)) !== text) return false;
    this.#handOut(key, text);
    return true;
  }

  /** Keeps the saved object in the state, so that the next mutation is found too. */
  #keepObject(key: string, value: unknown, savedText: string | undefined): void {
    if (savedText === undefined || jsonText(this.#loaded.get(key)) !== savedText) return;
    this.#loaded.set(key, value);
    this.#handOut(key, savedText);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Undefined for values that JSON cannot represent; a save refuses them. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function plainObjectText([key, value]: readonly [string, unknown]): [string, string][] {
  const text = isObject(value) && isPlainJson(value) ? jsonText(value) : undefined;
  return text === undefined ? [] : [[key, text]];
}

/** Whether the value survives JSON unchanged; a `Date` becomes text. */
function isPlainJson(value: unknown, depth = 0): boolean {
  if (!isObject(value)) return value === null || ['string', 'number', 'boolean'].includes(typeof value);
  if (depth > MAX_DEPTH) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype || prototype === Array.prototype;
  return isPlain && Object.values(value).every((inner) => isPlainJson(inner, depth + 1));
}
