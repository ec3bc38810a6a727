import type { OnModuleDestroy } from '@nestjs/common';
import { DESTROYED_AT_ONCE } from '../sessions/sessions.tokens.js';

/**
 * Lets `onModuleDestroy` of these instances wait for work that may use them. Nest calls these hooks module by module, in an order
 * that does not tell who uses whom at run time, and has no hook before them.
 *
 * @param work is called once, with the first hook
 * @returns the instances that cannot wait
 */
export function destroyAfter(work: () => Promise<void>, instances: readonly unknown[]): object[] {
  const destroyed = instances.filter(hasHook);
  const atOnce = new Set<OnModuleDestroy>(destroyed.filter((instance) => DESTROYED_AT_ONCE in instance));
  let done: Promise<void> | undefined;
  const workDone = (): Promise<void> => {
    if (!done) for (const instance of atOnce) void instance.onModuleDestroy();
    return (done ??= work());
  };
  return destroyed.filter((instance) => {
    if (atOnce.has(instance)) return false;
    const destroy = instance.onModuleDestroy.bind(instance) as () => unknown;
    const value = (): Promise<unknown> => workDone().then(destroy);
    return !Reflect.defineProperty(instance, 'onModuleDestroy', { value, configurable: true, writable: true });
  });
}

function hasHook(instance: unknown): instance is OnModuleDestroy {
  if (typeof instance !== 'object' || instance === null) return false;
  return 'onModuleDestroy' in instance && typeof instance.onModuleDestroy === 'function';
}
