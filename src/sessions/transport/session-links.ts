import type { SessionKey } from '../domain/ids.js';

/** Injection token of {@link SessionLinks}. `SessionsInspectorModule` provides it if it is told its own address. */
export const SESSION_LINKS = Symbol('SESSION_LINKS');

/** Where a person can look at a session. */
export interface SessionLinks {
  linkTo(key: SessionKey): string;
}
