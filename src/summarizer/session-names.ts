import { createHash } from 'node:crypto';
import type { SessionKey } from '../sessions/domain/ids.js';

/** No id holds a control character. */
const SEPARATOR = '\u001F';
const KIND = 'summary';

/** A session on the agenda of summaries. */
export function agendaNameOf({ appName, userId, sessionId }: SessionKey): string {
  return [KIND, appName, userId, sessionId].join(SEPARATOR);
}

/** Nothing for what others put on the agenda. */
export function sessionOfAgendaName(name: string): SessionKey | undefined {
  const [kind, appName, userId, sessionId] = name.split(SEPARATOR);
  if (kind !== KIND || appName === undefined || userId === undefined || sessionId === undefined) return undefined;
  return { appName, userId, sessionId };
}

/** Who has this lease may summarise the session. Ids together may be longer than the name of a lease. */
export function leaseNameOf(key: SessionKey): string {
  return `${KIND}:${createHash('sha256').update(agendaNameOf(key)).digest('base64url')}`;
}
