import type { SessionStorage } from '../../src/storage.js';

/** A storage, and what was asked of its entries since the last look. */
export function recordedCalls(storage: SessionStorage): { storage: SessionStorage; calls: () => string[] } {
  let calls: string[] = [];
  const entries = new Proxy(storage.entries, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push(String(name));
        return (value as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  const recorded = new Proxy(storage, {
    get(target, name) {
      if (name === 'entries') return entries;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return {
    storage: recorded,
    calls() {
      const taken = calls;
      calls = [];
      return taken;
    },
  };
}
