import type { WriteLimits } from '../../../config/session-settings.js';
import { splitStateKey } from '../../../state/scopes.js';
import type { StateChanges } from '../../../state/state-changes.js';
import { State } from '../../../state/state.js';
import { InvalidInputError, LimitExceededError } from '../errors/errors.js';
import {
  type JsonSize,
  MOST_BYTES_OF_A_UNIT,
  childPath,
  isPlainObject,
  jsonCopyAt,
  setField,
} from '../values/json-value.js';

/**
 * Validates and normalises state changes, as if they had been stored and read. The result shares no object with
 * the input.
 */
export function submittedChanges(delta: unknown, removals: unknown, path: string, limits: WriteLimits): StateChanges {
  const deltaPath = `${path}.stateDelta`;
  const stateDelta = deltaRecord(delta, deltaPath);
  const stateRemovals = removalList(removals, `${path}.stateRemovals`);
  assertDeltaSize(stateDelta, stateRemovals, path, limits);
  const normalised = normalisedState(stateDelta, deltaPath, limits);
  assertDisjoint(normalised, stateRemovals, path);
  return { stateDelta: normalised, stateRemovals };
}

/** The same for the initial state of a session. */
export function submittedState(state: unknown, path: string, limits: WriteLimits): Record<string, unknown> {
  const record = deltaRecord(state, path);
  assertDeltaSize(record, [], path, limits);
  return normalisedState(record, path, limits);
}

function deltaRecord(delta: unknown, path: string): Record<string, unknown> {
  if (delta === undefined || delta === null) return {};
  if (delta instanceof State) return delta.toJSON();
  if (!isPlainObject(delta)) throw new InvalidInputError('must be a plain object', path);
  return delta;
}

const NO_REMOVALS: readonly string[] = Object.freeze([]);

function removalList(removals: unknown, path: string): readonly string[] {
  if (removals === undefined || removals === null) return NO_REMOVALS;
  if (!Array.isArray(removals)) throw new InvalidInputError('must be an array of state keys', path);
  for (const key of removals) assertStateKey(key, path);
  return [...new Set(removals as string[])];
}

function assertDeltaSize(
  delta: Record<string, unknown>,
  removals: readonly string[],
  path: string,
  { maxDeltaKeys }: WriteLimits,
): void {
  const keys = Object.keys(delta).length + removals.length;
  if (keys > maxDeltaKeys) throw new LimitExceededError(`must change at most ${maxDeltaKeys} keys, not ${keys}`, path);
}

/** Refuses keys that are both set and removed. */
export function assertDisjoint(delta: Record<string, unknown>, removals: readonly string[], path: string): void {
  if (removals.length === 0) return;
  const both = removals.find((key) => Object.hasOwn(delta, key));
  if (both !== undefined) throw new InvalidInputError('is both set and removed', childPath(path, both));
}

function normalisedState(delta: Record<string, unknown>, path: string, limits: WriteLimits): Record<string, unknown> {
  // Depth counts from the value, so that the limit does not depend on where the value is.
  const { maxDepth, maxEventBytes: maxBytes } = limits;
  const jsonLimits = { maxDepth, maxBytes };
  const size: JsonSize = { units: 2 };
  const normalised: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(delta)) {
    if (value === undefined) continue;
    assertStateKey(key, path);
    setField(normalised, key, jsonCopyAt(key, value, path, jsonLimits, size));
  }
  if (size.units * MOST_BYTES_OF_A_UNIT > maxBytes && Buffer.byteLength(JSON.stringify(normalised)) > maxBytes) {
    throw new LimitExceededError(`must not be larger than ${maxBytes} bytes`, path);
  }
  return normalised;
}

/** The size of state key columns in every store. */
const MAX_STATE_KEY_BYTES = 512;

/** Refuses invalid state keys. `path` is the object that holds the key. */
export function assertStateKey(key: unknown, path: string): asserts key is string {
  const problem = stateKeyProblem(key);
  if (problem) throw new InvalidInputError(problem, typeof key === 'string' ? childPath(path, key) : path);
}

/** Why a value cannot be a state key, or `undefined`. */
export function stateKeyProblem(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'a state key must be a string';
  if (splitStateKey(key).name === '') return 'a state key must not be empty, before or after its prefix';
  if (!key.isWellFormed()) return 'a state key must not hold a lone surrogate';
  if (key.includes('\u0000')) return 'a state key must not hold U+0000';
  if (key.length * 3 > MAX_STATE_KEY_BYTES && Buffer.byteLength(key) > MAX_STATE_KEY_BYTES) {
    return `a state key must be at most ${MAX_STATE_KEY_BYTES} UTF-8 bytes long`;
  }
  return undefined;
}
