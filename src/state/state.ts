import { StatePrefix } from './scopes.js';
import { TrackedValues } from './tracked-values.js';

/** Every property name of a State belongs to its user. A WeakMap would take garbage collection long for the states of a list. */
const VALUES = Symbol('values');

/** The values behind `state`, for the session service. */
export function trackedValuesOf(state: State): TrackedValues {
  if (!isState(state)) {
    throw new TypeError('A method of State was called on something that is no State: call it as state.get(key)');
  }
  return Reflect.get(state, VALUES) as TrackedValues;
}

/** Whether the value is a `State`, not a plain object. */
export function isState(value: unknown): value is State {
  return typeof value === 'object' && value !== null && Reflect.get(value, VALUES) instanceof TrackedValues;
}

/**
 * The state of a session. It reads like a plain object, and tracks changes since it was loaded.
 *
 * Methods take precedence over keys of the same name (`state.get` is always the method); read such keys with
 * `get`, `getAll` and `toRecord`. Mutations of values are tracked too: a save finds them.
 *
 * @example
 * const state = new State({ topic: 'billing' });
 * state['user:theme'] = 'dark';
 * state.get('topic');          // 'billing'
 * state.get('missing', 'n/a'); // 'n/a'
 * delete state.topic;
 * state.hasDelta();            // true
 */
export class State {
  static readonly APP_PREFIX = StatePrefix.APP_PREFIX;
  static readonly USER_PREFIX = StatePrefix.USER_PREFIX;
  static readonly TEMP_PREFIX = StatePrefix.TEMP_PREFIX;

  [key: string]: unknown;

  constructor(initial: Record<string, unknown> = {}) {
    return new Proxy<object>(this, stateProxyHandler(new TrackedValues(initial), METHOD_NAMES)) as State;
  }

  /** The value of `key`, or `fallback` if the key is not set. A stored `null` is a value. */
  get<T = unknown>(key: string): T | undefined;
  get<T = unknown>(key: string, fallback: T): T;
  get<T = unknown>(key: string, fallback?: T): T | undefined {
    const values = trackedValuesOf(this);
    return values.has(key) ? (values.get(key) as T) : fallback;
  }

  /** Sets `key`. Setting `undefined` deletes it, since JSON has no `undefined`. */
  set(key: string, value: unknown): void {
    trackedValuesOf(this).set(key, value);
  }

  has(key: string): boolean {
    return trackedValuesOf(this).has(key);
  }

  /** Removes `key`. Returns whether it was set. */
  delete(key: string): boolean {
    return trackedValuesOf(this).delete(key);
  }

  /** Sets every key of `delta`. */
  update(delta: Record<string, unknown>): void {
    const values = trackedValuesOf(this);
    const entries = Object.entries(delta instanceof State ? delta.toJSON() : delta);
    for (const [key, value] of entries) values.set(key, value);
  }

  /** All keys and values, as a new plain object. */
  getAll(): Record<string, unknown> {
    const values = trackedValuesOf(this);
    return Object.fromEntries(values.keys().map((key) => [key, values.get(key)]));
  }

  /** The same as {@link getAll}, under the name that ADK for TypeScript uses. */
  toRecord(): Record<string, unknown> {
    return this.getAll();
  }

  /** Whether anything was set or removed since the state was loaded or last saved. */
  hasDelta(): boolean {
    return trackedValuesOf(this).isChanged();
  }

  /** What `JSON.stringify` writes. For reading only: use {@link getAll} for values that you change. */
  toJSON(): Record<string, unknown> {
    const values = trackedValuesOf(this);
    return Object.fromEntries(values.keys().map((key) => [key, values.peek(key)]));
  }

  [Symbol.for('nodejs.util.inspect.custom')](): Record<string, unknown> {
    return this.toJSON();
  }
}

const METHOD_NAMES: ReadonlySet<string> = new Set(
  Object.getOwnPropertyNames(State.prototype).filter((name) => name !== 'constructor'),
);

/**
 * Lets a `State` be used like a plain object. Stored keys never shadow methods, so that no data can break
 * `state.get(…)`. `__proto__` is an ordinary key.
 */
function stateProxyHandler(values: TrackedValues, methodNames: ReadonlySet<string>): ProxyHandler<object> {
  return {
    get(target, key) {
      if (key === VALUES) return values;
      if (typeof key === 'symbol' || methodNames.has(key)) return Reflect.get(target, key) as unknown;
      if (values.has(key)) return values.get(key);
      // Inherited members (`toString` …) work as on a plain object, except `__proto__`.
      return key === '__proto__' ? undefined : (Reflect.get(target, key) as unknown);
    },
    set(_target, key, value: unknown) {
      if (typeof key === 'symbol') return false;
      values.set(key, value);
      return true;
    },
    has: (target, key) => (typeof key === 'symbol' ? Reflect.has(target, key) : values.has(key)),
    deleteProperty(_target, key) {
      if (typeof key === 'string') values.delete(key);
      return true;
    },
    ownKeys: () => values.keys(),
    getOwnPropertyDescriptor(_target, key) {
      if (typeof key === 'symbol' || !values.has(key)) return undefined;
      return { value: values.get(key), writable: true, enumerable: true, configurable: true };
    },
    defineProperty(_target, key, descriptor) {
      if (typeof key === 'symbol' || !('value' in descriptor)) return false;
      values.set(key, descriptor.value);
      return true;
    },
    // Tracking would break on a frozen State or with another prototype.
    preventExtensions: () => false,
    setPrototypeOf: () => false,
  };
}
