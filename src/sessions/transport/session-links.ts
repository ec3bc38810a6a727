import type { SessionKey } from '../domain/values/ids.js';

/** Injection token of {@link SessionLinks}. `SessionsInspectorModule` provides it if it is told its own address. */
export const SESSION_LINKS = Symbol('SESSION_LINKS');

/** A line of the log, and where to look at what it is about. */
export function withLink(text: string, link: string | undefined): string {
  return link === undefined ? text : `${text}\n${link}`;
}

/** Where a person can look at a session. */
export interface SessionLinks {
  linkTo(key: SessionKey): string;
}
