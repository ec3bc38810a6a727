import type { TrackedValues } from './tracked-values.js';

/**
 * Lets a `State` be used like a plain object. Stored keys never shadow methods, so that no data can break
 * `state.get(…)`. `__proto__` is an ordinary key.
 */
export function stateProxyHandler(values: TrackedValues, methodNames: ReadonlySet<string>): ProxyHandler<object> {
  return {
    get(target, key) {
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
