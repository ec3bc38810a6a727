import { assertId } from '../sessions/domain/ids.js';
import type { TurnReference } from '../sessions/operations/turns.js';

/** The condition of a write. */
export function conditionOf(expectedVersion: number | undefined): Record<string, string> {
  return expectedVersion === undefined ? {} : { 'If-Match': `"${String(expectedVersion)}"` };
}

/** The turn of a write. */
export function turnHeaders(turn: TurnReference | undefined, endTurn?: boolean): Record<string, string> {
  if (turn === undefined) return endTurn === true ? { 'Turn-End': 'true' } : {};
  const token: unknown = typeof turn === 'string' ? turn : turn.token;
  assertId(token, 'turn');
  return { 'Turn-Token': token, ...(endTurn !== undefined && { 'Turn-End': String(endTurn) }) };
}
