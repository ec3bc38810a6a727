import type { StoredScope } from '../../../state/scopes.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import {
  type StateExcess,
  type StateLimits,
  type StateSize,
  countedSize,
  readExcess,
  readExcessError,
  stateExcess,
} from '../../domain/state-size.js';
import type { StateWrites } from '../../domain/stored-json.js';

type Values = Iterable<readonly [name: string, value: string]>;

/** The size of a scope before these writes, counted if they might pass the limit; or the excess if they do. */
export function sizeFor(
  scope: StoredScope,
  atMost: number,
  values: Values,
  writes: StateWrites,
  limits: StateLimits | undefined,
): StateSize | StateExcess {
  if (!stateExcess(scope, { atMost }, writes, limits)) return { atMost };
  const counted = countedSize(values);
  return stateExcess(scope, counted, writes, limits) ?? counted;
}

/** Refuses state that is too large to be read. */
export function expectReadable(
  scope: StoredScope,
  atMost: number,
  values: Values,
  limits: StateLimits | undefined,
  owner: StateOwner | SessionKey,
  isWritten = false,
): void {
  if (!readExcess(scope, { atMost }, limits)) return;
  const excess = readExcess(scope, countedSize(values), limits);
  if (excess) throw readExcessError(excess, owner, isWritten);
}
