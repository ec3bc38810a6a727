import type { SessionStorage } from '../../../src/storage.js';

/** A storage as a process has it that can be killed: from then on, no call of it reaches the store or returns. */
export function mortalStorage(storage: SessionStorage): { readonly storage: SessionStorage; kill(): void } {
  let isDead = false;
  const never = new Promise<never>(() => undefined);
  const mortal = <Target extends object>(living: Target): Target =>
    new Proxy(living, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'partials' || name === 'leases') return mortal(value as object);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => (isDead ? never : (value.apply(target, args) as unknown));
      },
    });
  return { storage: mortal(storage), kill: () => (isDead = true) };
}
