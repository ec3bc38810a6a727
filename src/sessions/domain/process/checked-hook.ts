import { inspect } from 'node:util';
import { ConfigurationError } from '../../../config/configuration-error.js';

/**
 * Refuses what cannot be called, when it is registered: later it would fail for each caller.
 *
 * @example checkHook('onBeforeAppend', hook);
 */
export function checkHook(registration: string, hook: unknown): void {
  if (typeof hook === 'function') return;
  throw new ConfigurationError([`hooks.${registration} got ${inspect(hook)}; it must be a function.`]);
}
