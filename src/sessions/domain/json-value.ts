import { InvalidInputError, LimitExceededError } from './errors.js';

export interface JsonLimits {
  readonly maxDepth: number;
  /** Approximate limit that stops the walk before a huge value is serialised. */
  readonly maxBytes: number;
}

/**
 * Copies the value as JSON. Refuses values that JSON cannot represent, with their path. Normalises on purpose: dates
 * become ISO strings, -0 becomes 0, and `undefined` properties and symbol keys are dropped. Reads every property once,
 * so that getters cannot change a value after it was checked.
 */
export function jsonCopyOf(value: unknown, path: string, limits: JsonLimits): unknown {
  return new JsonWalk(path, limits).copyOf(value, 1);
}

/** The same for the value of a key below `path`. */
export function jsonCopyAt(key: string, value: unknown, path: string, limits: JsonLimits): unknown {
  return new JsonWalk(path, limits, key).copyOf(value, 1);
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

/** Whether the value is a plain object, of this realm or another: no class instance, Map or Date. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

/** Whether the value is a real Date, of this realm or another. */
function isDate(value: object): value is Date {
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
  readonly #ancestors: object[] = [];
  readonly #keys: (string | number)[] = [];
  #bytes = 0;

  constructor(
    private readonly root: string,
    private readonly limits: JsonLimits,
    key?: string,
  ) {
    if (key !== undefined) this.#keys.push(key);
  }

  copyOf(value: unknown, depth: number): unknown {
    this.#count(typeof value === 'string' ? value.length + 2 : 1);
    switch (typeof value) {
      case 'boolean':
        return value;
      case 'string':
        if (!value.isWellFormed()) this.#refuse('must not hold a lone surrogate');
        return value;
      case 'number':
        if (!Number.isFinite(value)) this.#refuse(`must be a finite number, not ${value}`);
        // Adding 0 makes -0 what JSON makes of it.
        return value + 0;
      case 'object':
        return value === null ? null : this.#copyOfObject(value, depth);
      default:
        return this.#refuse(`must be a JSON value, not ${typeof value}`);
    }
  }

  #copyOfObject(value: object, depth: number): unknown {
    if (isDate(value)) return this.#dateText(value);
    if (this.#ancestors.includes(value)) this.#refuse('must not contain itself');
    if (depth > this.limits.maxDepth) this.#exceed(`must not be nested deeper than ${this.limits.maxDepth} levels`);
    // JSON represents it by the result of `toJSON`, not by its properties.
    if (hasMethod(value, 'toJSON')) this.#refuse('must not have a method toJSON');
    this.#ancestors.push(value);
    const copy = Array.isArray(value) ? this.#copyOfItems(value, depth) : this.#copyOfProperties(value, depth);
    this.#ancestors.pop();
    return copy;
  }

  /** The original method, since the date may override it. */
  #dateText(date: Date): string {
    if (Number.isNaN(Date.prototype.getTime.call(date))) this.#refuse('must be a valid date');
    return Date.prototype.toISOString.call(date);
  }

  #copyOfItems(items: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    // By index, since holes count: JSON would write null for them.
    for (let index = 0; index < items.length; index++) copy.push(this.#copyOfItem(index, items[index], depth));
    return copy;
  }

  #copyOfProperties(value: object, depth: number): Record<string, unknown> {
    if (!isPlainObject(value)) return this.#refuse(`must be a plain object, not ${kindOf(value)}`);
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item === undefined) continue;
      this.#countKey(key);
      setField(copy, key, this.#copyOfItem(key, item, depth));
    }
    return copy;
  }

  copyOfFields(value: object, depth: number, { without, inner }: Outline): Record<string, unknown> {
    this.#count(1);
    if (Object.hasOwn(value, 'toJSON') && hasMethod(value, 'toJSON')) this.#refuse('must not have a method toJSON');
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      if (without.includes(key)) continue;
      if (inner?.key === key) {
        this.#countKey(key);
        this.#keys.push(key);
        copy[key] = this.copyOfFields(inner.value, depth + 1, inner.outline);
        this.#keys.pop();
        continue;
      }
      const item = (value as Record<string, unknown>)[key];
      if (item === undefined) continue;
      this.#countKey(key);
      setField(copy, key, this.#copyOfItem(key, item, depth));
    }
    return copy;
  }

  #copyOfItem(key: string | number, item: unknown, depth: number): unknown {
    this.#keys.push(key);
    const copy = this.copyOf(item, depth + 1);
    this.#keys.pop();
    return copy;
  }

  #countKey(key: string): void {
    this.#count(key.length + 3);
    if (!key.isWellFormed()) this.#refuse('has a key with a lone surrogate');
  }

  /** Counting stops what a check of the finished text could not: shared references multiply without end. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.maxBytes) this.#exceed(`must not be larger than ${this.limits.maxBytes} bytes`);
  }

  #refuse(problem: string): never {
    throw new InvalidInputError(problem, this.#path());
  }

  #exceed(problem: string): never {
    throw new LimitExceededError(problem, this.#path());
  }

  #path(): string {
    return this.#keys.reduce<string>(childPath, this.root);
  }
}

/** Like an assignment, but a field named `__proto__` is a field. */
export function setField(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function hasMethod(value: object, name: string): boolean {
  return typeof (value as Record<string, unknown>)[name] === 'function';
}

function kindOf(value: object): string {
  const constructor: unknown = (value as { constructor?: unknown }).constructor;
  return typeof constructor === 'function' && constructor.name ? constructor.name : 'an object of another kind';
}
