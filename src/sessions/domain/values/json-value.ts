import { InvalidInputError, LimitExceededError } from '../errors/errors.js';

export interface JsonLimits {
  readonly maxDepth: number;
  /** Approximate limit that stops the walk before a huge value is serialised. */
  readonly maxBytes: number;
}

/**
 * Copies the value as JSON. Refuses values that JSON cannot represent, with their path. Normalises on purpose: dates
 * become ISO strings, -0 becomes 0, and `undefined` properties and symbol keys are dropped. Reads every property once,
 * so that getters cannot change a value after it was checked.
 *
 * @example const copy = jsonCopyOf(task, 'task', { maxDepth: 64, maxBytes: 1_000_000 });
 */
export function jsonCopyOf(value: unknown, path: string, limits: JsonLimits): unknown {
  return new JsonWalk(path, limits).copyOf(value, 1);
}

/** How much text the copies have, about; none is shorter as JSON than {@link MOST_BYTES_OF_A_UNIT} times this. */
export interface JsonSize {
  units: number;
}

/** A control character takes six bytes, a number at most 25. */
export const MOST_BYTES_OF_A_UNIT = 25;

/** The same for the value of a key below `path`; adds its size to `size`. Most are strings and numbers. */
export function jsonCopyAt(key: string, value: unknown, path: string, limits: JsonLimits, size: JsonSize): unknown {
  size.units += key.length + 4;
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0;
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'string' && value.length + 2 <= limits.maxBytes && value.isWellFormed()) {
    size.units += value.length + 1;
    return value;
  }
  const walk = new JsonWalk(path, limits, key);
  const copy = walk.copyOf(value, 1);
  size.units += walk.units;
  return copy;
}

/** Which fields of an object to copy. It may be an instance of a class. */
export interface Outline {
  readonly without: readonly string[];
  /** A field to copy by an outline of its own, and the value that was read from it. */
  readonly inner?: { readonly key: string; readonly value: object; readonly outline: Outline };
}

/** The same for an object of which some fields are checked elsewhere. */
export function jsonCopyOfFields(
  value: object,
  path: string,
  limits: JsonLimits,
  outline: Outline,
): Record<string, unknown> {
  return new JsonWalk(path, limits).copyOfFields(value, 1, outline);
}

/**
 * Whether the value is a plain object, of this realm or another: no class instance, Map or Date.
 *
 * @example const args = isPlainObject(call.input) ? call.input : {};
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

/** Whether a field is given: `null` says as little as `undefined`. */
export function isGiven<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null;
}

/** A field of what may be no object. */
export function readObjectField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/**
 * The object without fields that are undefined.
 *
 * @example parts.push({ functionCall: defined({ id: call.id, name, args }) });
 */
export function defined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Key in keyof Fields]: Exclude<Fields[Key], undefined> };
}

/** Whether the value is a real Date, of this realm or another. */
function isDate(value: object): value is Date {
  // The usual objects first, since the rest takes longer.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype) return false;
  if (Object.prototype.toString.call(value) !== '[object Date]') return false;
  try {
    Date.prototype.getTime.call(value);
    return true;
  } catch {
    return false;
  }
}

/** Messages cut longer names, since they must not repeat the input. */
const LONGEST_NAME = 80;

/** The path of `key` below `path`, in JSONPath notation. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const name = key.slice(0, LONGEST_NAME);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

class JsonWalk {
  /** The objects around the value in work, and the way to it. What is beyond its depth is left from other values. */
  readonly #ancestors: object[] = [];
  readonly #keys: (string | number)[] = [];
  #units = 0;

  constructor(
    private readonly root: string,
    private readonly limits: JsonLimits,
    private readonly key?: string,
  ) {}

  get units(): number {
    return this.#units;
  }

  copyOf(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'boolean':
        this.#count(1, depth);
        return value;
      case 'string':
        this.#count(value.length + 2, depth);
        if (!value.isWellFormed()) this.#refuse('must not hold a lone surrogate', depth);
        return value;
      case 'number':
        this.#count(1, depth);
        if (!Number.isFinite(value)) this.#refuse(`must be a finite number, not ${value}`, depth);
        // Adding 0 makes -0 what JSON makes of it.
        return value + 0;
      case 'object':
        this.#count(1, depth);
        return value === null ? null : this.#copyOfObject(value, depth);
      default:
        return this.#refuse(`must be a JSON value, not ${typeof value}`, depth);
    }
  }

  #copyOfObject(value: object, depth: number): unknown {
    if (isDate(value)) return this.#dateText(value, depth);
    for (let outer = 1; outer < depth; outer++) {
      if (this.#ancestors[outer - 1] === value) this.#refuse('must not contain itself', depth);
    }
    if (depth > this.limits.maxDepth) {
      this.#exceed(`must not be nested deeper than ${this.limits.maxDepth} levels`, depth);
    }
    // JSON represents it by the result of `toJSON`, not by its properties.
    if (hasMethod(value, 'toJSON')) this.#refuse('must not have a method toJSON', depth);
    this.#ancestors[depth - 1] = value;
    return Array.isArray(value) ? this.#copyOfItems(value, depth) : this.#copyOfProperties(value, depth);
  }

  /** The original method, since the date may override it. */
  #dateText(date: Date, depth: number): string {
    if (Number.isNaN(Date.prototype.getTime.call(date))) this.#refuse('must be a valid date', depth);
    return Date.prototype.toISOString.call(date);
  }

  #copyOfItems(items: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    // By index, since holes count: JSON would write null for them.
    for (let index = 0; index < items.length; index++) {
      this.#keys[depth - 1] = index;
      copy[index] = this.copyOf(items[index], depth + 1);
    }
    return copy;
  }

  #copyOfProperties(value: object, depth: number): Record<string, unknown> {
    if (!isPlainObject(value)) return this.#refuse(`must be a plain object, not ${classOf(value)}`, depth);
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item !== undefined) this.#copyProperty(copy, key, item, depth);
    }
    return copy;
  }

  copyOfFields(value: object, depth: number, { without, inner }: Outline): Record<string, unknown> {
    this.#count(1, depth);
    // An event that contains itself is found when it is met inside itself again.
    this.#ancestors[depth - 1] = this;
    if (Object.hasOwn(value, 'toJSON') && hasMethod(value, 'toJSON')) {
      this.#refuse('must not have a method toJSON', depth);
    }
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      if (without.includes(key)) continue;
      if (inner?.key === key) {
        this.#countKey(key, depth);
        this.#keys[depth - 1] = key;
        copy[key] = this.copyOfFields(inner.value, depth + 1, inner.outline);
        continue;
      }
      const item = (value as Record<string, unknown>)[key];
      if (item !== undefined) this.#copyProperty(copy, key, item, depth);
    }
    return copy;
  }

  #copyProperty(copy: Record<string, unknown>, key: string, item: unknown, depth: number): void {
    this.#countKey(key, depth);
    this.#keys[depth - 1] = key;
    setField(copy, key, this.copyOf(item, depth + 1));
  }

  #countKey(key: string, depth: number): void {
    this.#count(key.length + 3, depth);
    if (!key.isWellFormed()) this.#refuse('has a key with a lone surrogate', depth);
  }

  /** Counting stops what a check of the finished text could not: shared references multiply without end. */
  #count(units: number, depth: number): void {
    this.#units += units;
    if (this.#units > this.limits.maxBytes) {
      this.#exceed(`must not be larger than ${this.limits.maxBytes} bytes`, depth);
    }
  }

  #refuse(problem: string, depth: number): never {
    throw new InvalidInputError(problem, this.#pathAt(depth));
  }

  #exceed(problem: string, depth: number): never {
    throw new LimitExceededError(problem, this.#pathAt(depth));
  }

  #pathAt(depth: number): string {
    const root = this.key === undefined ? this.root : childPath(this.root, this.key);
    return this.#keys.slice(0, depth - 1).reduce<string>(childPath, root);
  }
}

/**
 * Like an assignment, but a field named `__proto__` is a field.
 *
 * @example for (const [name, value] of Object.entries(record)) setField(copy, name, value);
 */
export function setField(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function hasMethod(value: object, name: string): boolean {
  return typeof (value as Record<string, unknown>)[name] === 'function';
}

/** What an object is called that is no plain one. */
export function classOf(value: object): string {
  const constructor: unknown = (value as { constructor?: unknown }).constructor;
  return typeof constructor === 'function' && constructor.name ? constructor.name : 'an object of another kind';
}
