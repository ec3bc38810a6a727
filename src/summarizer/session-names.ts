import { createHash } from 'node:crypto';
import type { SessionKey } from '../sessions/domain/ids.js';
import type { DueSince } from './due-since.js';

/** No id holds a control character. */
const SEPARATOR = '\u001F';
const KIND = 'summary';

/** A session on the agenda of summaries. */
export function agendaNameOf({ appName, userId, sessionId }: SessionKey): string {
  return [KIND, appName, userId, sessionId].join(SEPARATOR);
}

/** The same, with the event that made it due: what outlives the process that saw the event. */
export function dueNameOf(key: SessionKey, { incarnation, seq }: DueSince): string {
  return [agendaNameOf(key), incarnation, seq].join(SEPARATOR);
}

/** What a name on the agenda says; nothing for what others put there. */
export function noteOf(name: string): { readonly key: SessionKey; readonly since?: DueSince | undefined } | undefined {
  const [kind, appName, userId, sessionId, incarnation, seq] = name.split(SEPARATOR);
  if (kind !== KIND || appName === undefined || userId === undefined || sessionId === undefined) return undefined;
  return {
    key: { appName, userId, sessionId },
    since: incarnation === undefined ? undefined : { incarnation, seq: Number(seq) },
  };
}

/** Who has this lease may summarise the session. Ids together may be longer than the name of a lease. */
export function leaseNameOf(key: SessionKey): string {
  return `${KIND}:${createHash('sha256').update(agendaNameOf(key)).digest('base64url')}`;
}
