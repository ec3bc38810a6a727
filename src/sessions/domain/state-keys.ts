import { splitStateKey } from '../../state/scopes.js';
import { InvalidInputError } from './errors.js';
import { childPath } from './json-value.js';

/** The size of state key columns in every store. */
const MAX_STATE_KEY_BYTES = 512;

/** Refuses invalid state keys. `path` is the object that holds the key. */
export function assertStateKey(key: unknown, path: string): asserts key is string {
  const problem = stateKeyProblem(key);
  if (problem) throw new InvalidInputError(problem, typeof key === 'string' ? childPath(path, key) : path);
}

function stateKeyProblem(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'a state key must be a string';
  if (splitStateKey(key).name === '') return 'a state key must not be empty, before or after its prefix';
  if (!key.isWellFormed()) return 'a state key must not hold a lone surrogate';
  if (key.includes('\u0000')) return 'a state key must not hold U+0000';
  if (Buffer.byteLength(key) > MAX_STATE_KEY_BYTES) {
    return `a state key must be at most ${MAX_STATE_KEY_BYTES} UTF-8 bytes long`;
  }
  return undefined;
}
