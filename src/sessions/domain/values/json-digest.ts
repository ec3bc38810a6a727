import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';

/**
 * A hash of a JSON value that does not depend on the order of keys.
 *
 * @example const isSame = digestOf(stored) === digestOf(given);
 */
export function digestOf(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'base64url');
}
