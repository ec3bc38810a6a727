import type { Lifetime } from '../../domain/expiry.js';
import type { SessionKey } from '../../domain/ids.js';
import type { StateWrites } from '../../domain/scope-writes.js';

export type ScriptArguments = (string | number)[];

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

export function writeArguments({ upserts, removals }: StateWrites): ScriptArguments {
  return [
    upserts.length,
    ...upserts.flatMap(({ name, value }) => [name, value]),
    removals.length,
    ...removals.map(({ name }) => name),
  ];
}
