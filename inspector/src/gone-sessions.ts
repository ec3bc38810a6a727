import { signal } from '@preact/signals';
import type { RemoteKey } from '../../src/client/index.js';

interface Named {
  readonly appName: string;
  readonly userId: string;
  readonly id: string;
}

/** Sessions that were not there when they were asked for. The list may have read them before. */
const gone = signal<ReadonlySet<string>>(new Set());

export function noteGone({ sessionId: id, ...owner }: RemoteKey): void {
  gone.value = new Set(gone.value).add(idOf({ ...owner, id }));
}

export function isGone(session: Named): boolean {
  return gone.value.has(idOf(session));
}

/** They were just listed, so they are there: an id can be used again. */
export function noteListed(sessions: readonly Named[]): void {
  const back = sessions.filter(isGone);
  if (back.length === 0) return;
  const left = new Set(gone.value);
  for (const session of back) left.delete(idOf(session));
  gone.value = left;
}

function idOf({ appName, userId, id }: Named): string {
  return JSON.stringify([appName, userId, id]);
}
