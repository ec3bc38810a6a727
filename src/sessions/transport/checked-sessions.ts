import type { SessionKey } from '../domain/ids.js';
import { RequestNotes } from './request-notes.js';

/** The sessions that the rule has allowed. */
const checkedSessions = new RequestNotes();

/** Remembers that the rule has allowed a request to use a session. */
export function noteChecked(request: unknown, key: Partial<SessionKey>): void {
  checkedSessions.add(request, nameOf(key));
}

/** Whether the rule has allowed this request to use the session. */
export function isChecked(request: object, key: Partial<SessionKey>): boolean {
  return checkedSessions.has(request, nameOf(key));
}

function nameOf({ appName, userId, sessionId }: Partial<SessionKey>): string {
  return JSON.stringify([appName, userId, sessionId]);
}
