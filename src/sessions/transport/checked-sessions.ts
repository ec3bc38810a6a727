import type { SessionKey } from '../domain/values/ids.js';
import { RequestNotes } from './request-notes.js';

/** The sessions that the rule has allowed. */
const checkedSessions = new RequestNotes();

/** Remembers that the rule has allowed a request to use a session. */
export function noteChecked(request: unknown, key: Partial<SessionKey>): void {
  checkedSessions.add(request, formatCheckedKey(key));
}

/** Whether the rule has allowed this request to use the session. */
export function isChecked(request: object, key: Partial<SessionKey>): boolean {
  return checkedSessions.has(request, formatCheckedKey(key));
}

function formatCheckedKey({ appName, userId, sessionId }: Partial<SessionKey>): string {
  return JSON.stringify([appName, userId, sessionId]);
}
