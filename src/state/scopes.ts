/** The prefixes that put a state key into a scope. No prefix means: this session only. */
export const StatePrefix = {
  APP_PREFIX: 'app:',
  USER_PREFIX: 'user:',
  TEMP_PREFIX: 'temp:',
} as const;

/** The scope of a state key. `temp` keys exist only in the caller's session object and are never stored. */
export type Scope = 'session' | 'user' | 'app' | 'temp';

/** The scopes that a store keeps. */
export type StoredScope = Exclude<Scope, 'temp'>;

/** A parsed state key: its scope, and its name in that scope. */
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

/** Parses `user:theme` into `{ scope: 'user', name: 'theme' }`. */
export function splitStateKey(key: string): ScopedName {
  for (const scope of PREFIXED_SCOPES) {
    const prefix = PREFIX_OF[scope];
    if (key.startsWith(prefix)) return { scope, name: key.slice(prefix.length) };
  }
  return { scope: 'session', name: key };
}

/** Joins scope `user` and `theme` to `user:theme`. */
export function joinStateKey(scope: Scope, name: string): string {
  return PREFIX_OF[scope] + name;
}

export function isTempKey(key: string): boolean {
  return key.startsWith(StatePrefix.TEMP_PREFIX);
}
