import { inspect } from 'node:util';

/**
 * What a line of the log says of what was thrown, which need not be an error.
 *
 * @example logger.error('A hook failed', stackOf(error));
 */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? String(thrown)) : inspect(thrown);
}

/**
 * The message of what was thrown, which need not be an error.
 *
 * @example logger.warn(`The cleanup did not finish: ${toErrorMessage(error)}`);
 */
export function toErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
