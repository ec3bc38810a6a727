import type { SessionRecord } from '../sessions/domain/session-record.js';

/** An event that made a summary due: it is due from then on, whatever comes after it, until a summary or a rewind does. */
export interface DueSince {
  readonly incarnation: string;
  readonly seq: number;
}

export function isInForce(
  { incarnation, seq }: DueSince,
  record: Pick<SessionRecord, 'incarnation' | 'marksSeq'>,
): boolean {
  return incarnation === record.incarnation && record.marksSeq < seq;
}
