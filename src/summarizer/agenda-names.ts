import { createHash } from 'node:crypto';
import type { SessionKey } from '../sessions/domain/ids.js';
import type { SessionRecord } from '../sessions/domain/session-record.js';

/** The event that made a summary due. The session stays due until a summary or a rewind, regardless of later events. */
export interface DueTrigger {
  readonly incarnation: string;
  readonly seq: number;
}

export function isInForce(
  { incarnation, seq }: DueTrigger,
  record: Pick<SessionRecord, 'incarnation' | 'marksSeq'>,
): boolean {
  return incarnation === record.incarnation && record.marksSeq < seq;
}

/** No id contains a control character. */
const SEPARATOR = '\u001F';
const KIND = 'summary';

/** The name of a session on the agenda. */
export function agendaNameOf({ appName, userId, sessionId }: SessionKey): string {
  return [KIND, appName, userId, sessionId].join(SEPARATOR);
}

/** The name of a session with its trigger on the agenda, for processes that did not see the event. */
export function triggerNameOf(key: SessionKey, { incarnation, seq }: DueTrigger): string {
  return [agendaNameOf(key), incarnation, seq].join(SEPARATOR);
}

/** Parses a name on the agenda; `undefined` for entries of others. */
export function parseAgendaName(
  name: string,
): { readonly key: SessionKey; readonly trigger?: DueTrigger | undefined } | undefined {
  const [kind, appName, userId, sessionId, incarnation, seq] = name.split(SEPARATOR);
  if (kind !== KIND || appName === undefined || userId === undefined || sessionId === undefined) return undefined;
  return {
    key: { appName, userId, sessionId },
    trigger: incarnation === undefined ? undefined : { incarnation, seq: Number(seq) },
  };
}

/** The lease of a session. It is a hash, because ids together may be longer than the name of a lease. */
export function leaseNameOf(key: SessionKey): string {
  return `${KIND}:${createHash('sha256').update(agendaNameOf(key)).digest('base64url')}`;
}
