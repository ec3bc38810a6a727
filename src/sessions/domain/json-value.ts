import { types } from 'node:util';
import { InvalidInputError, LimitExceededError } from './errors.js';

export interface JsonLimits {
  readonly maxDepth: number;
  /** Roughly how many bytes of JSON are too many; stops the walk before a huge value is written out. */
  readonly maxBytes: number;
}

/**
 * Refuses every value that JSON cannot carry unharmed, saying where it is. What passes can be given to
 * `JSON.stringify` without loss, but for what is normalised on purpose: dates become ISO strings, -0
 * becomes 0, properties that are `undefined` or keyed by a symbol are dropped.
 */
export function assertJson(value: unknown, path: string, limits: JsonLimits): void {
  new JsonWalk(path, limits).visit(value, 1);
}

/** A plain object in the sense of JSON, of this realm or another: no class instance, no Map, no Date. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

/** Longer names are cut in messages, which must not repeat what was sent. */
const LONGEST_NAME = 80;

/** The path of `key` below `path`, in JSONPath notation. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const name = key.slice(0, LONGEST_NAME);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

class JsonWalk {
  readonly #ancestors = new Set<object>();
  readonly #keys: (string | number)[] = [];
  #bytes = 0;

  constructor(
    private readonly root: string,
    private readonly limits: JsonLimits,
  ) {}

  visit(value: unknown, depth: number): void {
    this.#count(typeof value === 'string' ? value.length + 2 : 1);
    switch (typeof value) {
      case 'boolean':
        return;
      case 'string':
        if (!value.isWellFormed()) this.#refuse('must not hold a lone surrogate');
        return;
      case 'number':
        if (!Number.isFinite(value)) this.#refuse(`must be a finite number, not ${value}`);
        return;
      case 'object':
        if (value !== null) this.#visitObject(value, depth);
        return;
      default:
        this.#refuse(`must be a JSON value, not ${typeof value}`);
    }
  }

  #visitObject(value: object, depth: number): void {
    if (types.isDate(value)) {
      if (Number.isNaN(value.getTime())) this.#refuse('must be a valid date');
      return;
    }
    if (this.#ancestors.has(value)) this.#refuse('must not contain itself');
    if (depth > this.limits.maxDepth) this.#exceed(`must not be nested deeper than ${this.limits.maxDepth} levels`);
    // JSON.stringify would ask such an object and write what was never checked.
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') this.#refuse('must not have a method toJSON');
    this.#ancestors.add(value);
    if (Array.isArray(value)) this.#visitItems(value, depth);
    else if (isPlainObject(value)) this.#visitProperties(value, depth);
    else this.#refuse(`must be a plain object, not ${kindOf(value)}`);
    this.#ancestors.delete(value);
  }

  #visitItems(items: readonly unknown[], depth: number): void {
    // By index, since holes count: JSON would write null for them.
    for (let index = 0; index < items.length; index++) this.#descend(index, items[index], depth);
  }

  #visitProperties(value: Record<string, unknown>, depth: number): void {
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item === undefined) continue;
      this.#count(key.length + 3);
      if (!key.isWellFormed()) this.#refuse('has a key with a lone surrogate');
      this.#descend(key, item, depth);
    }
  }

  #descend(key: string | number, item: unknown, depth: number): void {
    this.#keys.push(key);
    this.visit(item, depth + 1);
    this.#keys.pop();
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

function kindOf(value: object): string {
  const constructor: unknown = (value as { constructor?: unknown }).constructor;
  return typeof constructor === 'function' && constructor.name ? constructor.name : 'an object of another kind';
}
