import type { SessionKey, UserKey } from '../values/ids.js';

/** No id contains a control character. */
export const AGENDA_SEPARATOR = '\u001F';
/** The kind of the entries for summaries. */
export const SUMMARIES = 'summary';

/** The name of a session on the agenda of summaries. */
export function agendaNameOf(key: SessionKey): string {
  return `${agendaPrefixOf(key)}${key.sessionId}`;
}

/** How the names of all sessions of a user begin. */
export function agendaPrefixOf({ appName, userId }: UserKey): string {
  return [SUMMARIES, appName, userId, ''].join(AGENDA_SEPARATOR);
}
