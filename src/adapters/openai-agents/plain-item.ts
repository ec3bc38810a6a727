import { InvalidInputError } from '../../index.js';
import { isPlainObject, setField } from '../../adapter.js';

/** An item of the SDK as JSON. */
export type PlainItem = Record<string, unknown>;

/** The way to a value in an item. */
export type Path = readonly (string | number)[];

/** A copy of an item as JSON, and what JSON cannot say of it. */
export interface CopiedItem {
  readonly item: PlainItem;
  /** Where the item has bytes, which are base64 in the copy. */
  readonly bytes: readonly Path[];
  /** Whether all its texts can be stored as they are. */
  readonly isWellFormed: boolean;
}

/** More than events may have by default. Also ends a walk through an item that contains itself. */
const DEEPEST = 100;

/** Copies an item. Values that are no JSON stay as they are, and are refused or normalised with the event. */
export function copiedItem(given: unknown, path = '$'): CopiedItem {
  if (!isPlainObject(given)) throw new InvalidInputError('must be an item of the SDK: an object', path);
  const copy = new ItemCopy(path);
  const item = copy.of(given, []) as PlainItem;
  return { item, bytes: copy.bytes, isWellFormed: copy.isWellFormed };
}

class ItemCopy {
  readonly bytes: Path[] = [];
  isWellFormed = true;

  constructor(private readonly path: string) {}

  of(value: unknown, at: Path): unknown {
    if (typeof value === 'string') {
      this.isWellFormed &&= value.isWellFormed();
      return value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (at.length > DEEPEST) {
      throw new InvalidInputError('is nested too deeply, or contains itself', this.path);
    }
    if (value instanceof Uint8Array) {
      this.bytes.push(at);
      return Buffer.from(value).toString('base64');
    }
    // By index, since `map` skips the holes of an array.
    if (Array.isArray(value)) return Array.from(value, (entry: unknown, index) => this.of(entry, [...at, index]));
    if (!isPlainObject(value)) return value;
    const copy = {};
    for (const [key, entry] of Object.entries(value)) {
      this.isWellFormed &&= key.isWellFormed();
      if (entry !== undefined) setField(copy, key, this.of(entry, [...at, key]));
    }
    return copy;
  }
}

/** The value at a path of own fields; `undefined` if there is none. */
export function valueAt(item: unknown, path: Path): unknown {
  let value = item;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

/** Replaces the value at a path, if there is one. */
export function replaceAt(item: unknown, path: Path, value: unknown): void {
  const last = path.at(-1);
  const holder = valueAt(item, path.slice(0, -1));
  if (last === undefined || typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, last)) return;
  setField(holder, String(last), value);
}

/** The same with texts that can be stored: half a surrogate pair becomes U+FFFD. */
export function wellFormed<Value>(value: Value): Value {
  if (typeof value === 'string') return value.toWellFormed() as Value;
  if (Array.isArray(value)) return value.map((entry: unknown) => wellFormed(entry)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [key, entry] of Object.entries(value)) setField(copy, key.toWellFormed(), wellFormed(entry));
  return copy as Value;
}
