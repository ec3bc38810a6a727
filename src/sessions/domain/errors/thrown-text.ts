import { inspect } from 'node:util';

/**
 * What a line of the log says of what was thrown, which need not be an error.
 *
 * @example logger.error('A hook failed', stackOf(error));
 */
export function stackOf(thrown: unknown): string {
  try {
    const stack: unknown = thrown instanceof Error ? thrown.stack : inspect(thrown);
    if (typeof stack === 'string') return stack;
  } catch {
    // It may fail when it is looked at.
  }
  return toErrorMessage(thrown);
}

/**
 * The message of what was thrown: anything may be, also nothing, and what fails when it is looked at.
 *
 * @example logger.warn(`The cleanup did not finish: ${toErrorMessage(error)}`);
 */
export function toErrorMessage(thrown: unknown): string {
  try {
    const said: unknown = thrown instanceof Error ? (thrown.message ?? thrown.name) : thrown;
    return typeof said === 'string' ? said : inspect(said, { depth: 1, breakLength: Infinity });
  } catch {
    return 'what was thrown cannot be read';
  }
}
