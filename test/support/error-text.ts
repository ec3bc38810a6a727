import { inspect } from 'node:util';

/** Everything that a log could print of an error. */
export function allTextOf(error: unknown): string {
  const hidden = inspect(error, { depth: Infinity, showHidden: true, customInspect: false });
  const { message, stack, cause } = error as Error;
  return [hidden, message, stack, String(cause), JSON.stringify(error), JSON.stringify(cause)].join('\n');
}
