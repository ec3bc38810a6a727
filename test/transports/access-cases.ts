import type { Who } from '../support/callers.js';
import { type Values, idValues, madeRequest } from './made-requests.js';
import { OPERATIONS } from './operations.js';
import { ROWS, ROW_NAMES, type RowName, idsOf } from './rows.js';

type Asked = (typeof OPERATIONS)[RowName]['asks'][number];

/** What an operation asks, and whom the rule `OwnSessions` allows it. */
export interface AccessCase {
  readonly name: RowName;
  readonly asks: readonly Asked[];
  readonly target: 'session' | 'other';
  readonly allowed: readonly Who[];
}

export const ACCESS_CASES: readonly AccessCase[] = ROW_NAMES.map((name) => {
  const { asks } = OPERATIONS[name];
  const [first = 'read session'] = asks;
  const target = first.endsWith(' session') ? 'session' : 'other';
  return { name, asks, target, allowed: allowed(first, idsOf(ROWS[name]).includes('userId')) };
});

/** Who may do what: everybody of the app reads its state, and owners have what is theirs. */
function allowed(asked: Asked, hasOwner: boolean): readonly Who[] {
  if (asked === 'read appState') return ['the owner', 'another user', 'the admin'];
  return hasOwner ? ['the owner', 'the admin'] : ['the admin'];
}

/** The request that succeeds on the session of the tests. */
export function goodRequest(name: RowName, face: 'rest' | 'graphql', sessionId: string): Values {
  const row = ROWS[name];
  const made = { ...madeRequest(row, face, 'least'), ...OPERATIONS[name].good };
  const named = { ...idValues(row), userId: 'ann', sessionId };
  const ids = Object.fromEntries(Object.entries(named).filter(([field]) => idsOf(row).includes(field)));
  return { ...made, ...ids };
}
