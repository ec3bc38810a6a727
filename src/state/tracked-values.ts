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

/** Loaded values, and the changes since: assigned, removed or mutated. */
export class TrackedValues {
  readonly #loaded: Map<string, unknown>;
  readonly #changed = new Map<string, Change>();
  /** Removed keys, with the change counter. */
  readonly #removed = new Map<string, number>();
  /** New keys that were deleted again; a running save may still store them. */
  readonly #dropped = new Set<string>();
  /** The change counter. */
  #now = 0;
  readonly #taken = new WeakMap<StateChanges, Taken>();
  /** Loaded objects that were handed out, as JSON text, since callers can mutate them. */
  readonly #handedOut = new Map<string, string>();

  constructor(initial: Record<string, unknown>) {
    this.#loaded = new Map(Object.entries(initial));
  }

  has(key: string): boolean {
    return this.#changed.has(key) || (this.#loaded.has(key) && !this.#removed.has(key));
  }

  /** The value, for callers who may mutate it; {@link pending} finds mutations. */
  get(key: string): unknown {
    const value = this.peek(key);
    if (!isObject(value) || isTempKey(key) || this.#changed.has(key) || this.#handedOut.has(key)) return value;
    const text = jsonText(value);
    if (text !== undefined) this.#handedOut.set(key, text);
    return value;
  }

  /** The value, for code that only reads it. */
  peek(key: string): unknown {
    const change = this.#changed.get(key);
    if (change) return change.value;
    return this.#removed.has(key) ? undefined : this.#loaded.get(key);
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
    return this.pendingKeys().length > 0;
  }

  /** The keys that {@link pending} would give. */
  pendingKeys(): string[] {
    if (this.#changed.size + this.#handedOut.size + this.#removed.size === 0) return [];
    const changedInside = [...this.#handedOut.keys()].filter((key) => this.#isChangedInside(key));
    return [...this.#changed.keys(), ...changedInside, ...this.#removed.keys()];
  }

  pending(): StateChanges {
    for (const key of this.#handedOut.keys()) this.#noteInnerChange(key);
    const values = [...this.#changed].map(([key, { value }]) => [key, value] as const);
    const changes = { stateDelta: Object.fromEntries(values), stateRemovals: [...this.#removed.keys()] };
    this.#taken.set(changes, { at: this.#now, texts: new Map(values.flatMap(plainObjectText)) });
    return changes;
  }

  /** Applies stored changes. Unsaved changes take precedence. */
  applyStored(stored: StateChanges): void {
    for (const key of Object.keys(stored.stateDelta)) {
      const value = stored.stateDelta[key];
      if (this.#isAlready(key, value)) continue;
      this.#noteInnerChange(key);
      this.#handedOut.delete(key);
      this.#loaded.set(key, value);
    }
    for (const key of stored.stateRemovals) {
      this.#noteInnerChange(key);
      this.#handedOut.delete(key);
      this.#loaded.delete(key);
      if (this.#removed.delete(key)) this.#dropped.add(key);
    }
  }

  /** Clears the saved changes that {@link pending} returned. Later changes stay pending. */
  markSaved(saved: StateChanges): void {
    const { at: takenAt, texts } = this.#taken.get(saved) ?? { at: this.#now, texts: new Map<string, string>() };
    // Compares the counter, not the value: a value may have been mutated and set again.
    const isSaved = (at: number | undefined): boolean => at !== undefined && at <= takenAt;
    for (const key of Object.keys(saved.stateDelta)) {
      const change = this.#changed.get(key);
      if (isSaved(change?.at)) {
        this.#changed.delete(key);
        this.#keepObject(key, change?.value, texts.get(key));
      }
      if (this.#dropped.delete(key)) this.#removed.set(key, ++this.#now);
    }
    for (const key of saved.stateRemovals) if (isSaved(this.#removed.get(key))) this.#removed.delete(key);
  }

  /** Whether the loaded value was mutated after it was handed out. */
  #isChangedInside(key: string): boolean {
    const before = this.#handedOut.get(key);
    if (before === undefined || this.#changed.has(key) || this.#removed.has(key)) return false;
    return jsonText(this.#loaded.get(key)) !== before;
  }

  /** Records a mutation as a change of the whole value. */
  #noteInnerChange(key: string): void {
    if (!this.#isChangedInside(key)) return;
    this.#handedOut.delete(key);
    this.#changed.set(key, { value: this.#loaded.get(key), at: ++this.#now });
  }

  /** Whether the handed-out object equals the stored value, because an event carried the mutation. */
  #isAlready(key: string, stored: unknown): boolean {
    if (!this.#handedOut.has(key)) return false;
    const text = jsonText(stored);
    if (text === undefined || jsonText(this.#loaded.get(key)) !== text) return false;
    this.#handedOut.set(key, text);
    return true;
  }

  /** Keeps the saved object in the state, so that the next mutation is found too. */
  #keepObject(key: string, value: unknown, savedText: string | undefined): void {
    if (savedText === undefined || jsonText(this.#loaded.get(key)) !== savedText) return;
    this.#loaded.set(key, value);
    this.#handedOut.set(key, savedText);
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
