/** The prefixes that put a state key into a scope. No prefix means: this session only. */
export const StatePrefix = {
  APP_PREFIX: 'app:',
  USER_PREFIX: 'user:',
  TEMP_PREFIX: 'temp:',
} as const;

/** Where a state key lives. `temp` lives only in the caller's session object and is never stored. */
export type Scope = 'session' | 'user' | 'app' | 'temp';

/** The scopes that a store keeps. */
export type StoredScope = Exclude<Scope, 'temp'>;

/** A state key taken apart: its scope, and its name inside that scope. */
export interface ScopedName {
  readonly scope: Scope;
  readonly name: string;
}

const PREFIX_OF: Record<Scope, string> = {
  session: '',
  user: StatePrefix.USER_PREFIX,
  app: StatePrefix.APP_PREFIX,
  temp: StatePrefix.TEMP_PREFIX,
};

const PREFIXED_SCOPES = ['user', 'app', 'temp'] as const;

/** Takes `user:theme` apart into `{ scope: 'user', name: 'theme' }`. */
export function splitStateKey(key: string): ScopedName {
  const scope = PREFIXED_SCOPES.find((candidate) => key.startsWith(PREFIX_OF[candidate])) ?? 'session';
  return { scope, name: key.slice(PREFIX_OF[scope].length) };
}

/** Puts `theme` of scope `user` together again: `user:theme`. */
export function joinStateKey(scope: Scope, name: string): string {
  return PREFIX_OF[scope] + name;
}

export function isTempKey(key: string): boolean {
  return key.startsWith(StatePrefix.TEMP_PREFIX);
}
