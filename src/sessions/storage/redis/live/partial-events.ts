import type { StoredPartial } from '../../../domain/stored/partial-event.js';

/** One line each for number, seq, expiry and message, and then the content. */
export function memberOfPartial({ number, afterSeq, expiresAt, messageId, content }: StoredPartial): string {
  return [number, afterSeq, expiresAt, messageId, content].join('\n');
}

export function parsePartialMember(member: string): StoredPartial {
  const [number, seq, expiry, messageId = ''] = member.split('\n', 4);
  const content = member.slice([number, seq, expiry, messageId].join('\n').length + 1);
  return { number: Number(number), afterSeq: Number(seq), messageId, content, expiresAt: Number(expiry) };
}
