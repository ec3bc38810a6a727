import { signal } from '@preact/signals';
import type { RemoteKey, RemoteSession } from '../../src/client/index.js';
import { sessionNameOf } from '../../src/sessions/domain/values/ids.js';

type Named = Pick<RemoteSession, 'appName' | 'userId' | 'id'>;

/** Sessions that were not there when they were asked for. The list may have read them before. */
const gone = signal<ReadonlySet<string>>(new Set());

export function noteGone(key: RemoteKey): void {
  gone.value = new Set(gone.value).add(sessionNameOf(key));
}

export function isGone(session: Named): boolean {
  return gone.value.has(nameOf(session));
}

/** They were just listed, so they are there: an id can be used again. */
export function noteListed(sessions: readonly Named[]): void {
  const back = sessions.filter(isGone);
  if (back.length === 0) return;
  const left = new Set(gone.value);
  for (const session of back) left.delete(nameOf(session));
  gone.value = left;
}

/** A unique text for a listed session. */
export function nameOf({ appName, userId, id: sessionId }: Named): string {
  return sessionNameOf({ appName, userId, sessionId });
}
