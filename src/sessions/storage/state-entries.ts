/** State keys of one scope, without their prefix, and their values as JSON text. */
export type StateEntries = readonly (readonly [name: string, value: string])[];

/** The state that a session shows, scope by scope. */
export interface StoredState {
  readonly session: StateEntries;
  readonly user: StateEntries;
  readonly app: StateEntries;
}

/** The state of a user or an app. */
export interface SharedScope {
  readonly entries: StateEntries;
  /** Missing without entries. */
  readonly expiresAt?: number | undefined;
}
