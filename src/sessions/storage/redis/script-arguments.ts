import type { StoredScope } from '../../../state/scopes.js';
import type { Removal, Upsert } from '../../domain/commit.js';
import type { Lifetime } from '../../domain/expiry.js';
import type { SessionKey } from '../../domain/ids.js';

export type ScriptArguments = (string | number)[];

export interface Writes {
  readonly upserts: readonly Upsert[];
  readonly removals: readonly Removal[];
}

/** The session, as the arguments that all its scripts begin with. */
export function keyArguments({ sessionId, userId, appName }: SessionKey): ScriptArguments {
  return [sessionId, userId, appName];
}

export function flag(value: boolean | undefined): string {
  return value ? '1' : '0';
}

export function optional(value: string | number | undefined): string | number {
  return value ?? '';
}

export function lifetimeArguments(lifetime: Lifetime | undefined): ScriptArguments {
  return [optional(lifetime?.ttlMs), optional(lifetime?.renewBelowMs)];
}

/** The writes of one scope. */
export function writesIn(scope: StoredScope, { upserts, removals }: Writes): Writes {
  return {
    upserts: upserts.filter((upsert) => upsert.scope === scope),
    removals: removals.filter((removal) => removal.scope === scope),
  };
}

export function writeArguments({ upserts, removals }: Writes): ScriptArguments {
  return [
    upserts.length,
    ...upserts.flatMap(({ name, value }) => [name, value]),
    removals.length,
    ...removals.map(({ name }) => name),
  ];
}
