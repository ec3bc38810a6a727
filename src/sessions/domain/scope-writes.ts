import type { StoredScope } from '../../state/scopes.js';
import type { Removal, Upsert } from './commit.js';

/** State keys to set and to remove. */
export interface StateWrites {
  readonly upserts: readonly Upsert[];
  readonly removals: readonly Removal[];
}

/**
 * The writes to one scope.
 *
 * @example
 * const toUser = writesOf('user', commit);
 * if (changesNothing(toUser)) renewWhereDue(); else write(toUser);
 */
export function writesOf(scope: StoredScope, { upserts, removals }: StateWrites): StateWrites {
  return {
    upserts: upserts.filter((upsert) => upsert.scope === scope),
    removals: removals.filter((removal) => removal.scope === scope),
  };
}

/**
 * Whether there is nothing to set or remove.
 *
 * @example if (changesNothing(commit)) return;
 */
export function changesNothing({ upserts, removals }: StateWrites): boolean {
  return upserts.length === 0 && removals.length === 0;
}
