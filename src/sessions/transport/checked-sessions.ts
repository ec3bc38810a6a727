import type { SessionKey } from '../domain/ids.js';

/** The sessions that the rule has allowed, by request. */
const checkedSessions = new WeakMap<object, Set<string>>();

/** Remembers that the rule has allowed a request to use a session. */
export function noteChecked(request: unknown, key: Partial<SessionKey>): void {
  if (typeof request !== 'object' || request === null) return;
  const known = checkedSessions.get(request) ?? new Set();
  checkedSessions.set(request, known.add(nameOf(key)));
}

/** Whether the rule has allowed this request to use the session. */
export function isChecked(request: object, key: Partial<SessionKey>): boolean {
  return checkedSessions.get(request)?.has(nameOf(key)) === true;
}

function nameOf({ appName, userId, sessionId }: Partial<SessionKey>): string {
  return JSON.stringify([appName, userId, sessionId]);
}
