import fc from 'fast-check';
import type { GivenEvent, GivenPart } from './model/entries.js';

/** A long log as plain numbers, which are quick to make and to shrink; `eventOf` says what they mean. */
export interface LongLog {
  readonly numbers: readonly number[];
  /** How many of a hundred events are by the user. */
  readonly talk: number;
}

export function longLogs(minLength: number, maxLength: number): fc.Arbitrary<LongLog> {
  return fc.record({
    numbers: fc.array(fc.nat({ max: 99_999 }), { minLength, maxLength, size: 'max' }),
    talk: fc.constantFrom(1, 4, 20),
  });
}

interface Surroundings {
  readonly talk: number;
  readonly lastSeq: number;
  readonly now: number;
  /** Whether the log is trimmed: what its view lost does not come back, so nothing may reach for it. */
  readonly isTrimmed: boolean;
}

export function eventOf(number: number, { talk, lastSeq, now, isTrimmed }: Surroundings): GivenEvent {
  const kind = number % 100;
  const detail = Math.floor(number / 100);
  // Nothing comes out of the user's mouth that is not due to `talk`, so that anchors may be far apart.
  if (kind >= 100 - talk) return said('user', { text: 'hello' });
  if (kind < 2 && lastSeq > 0) return summary(Math.max(1, lastSeq - (detail % (isTrimmed ? 2 : 60))));
  if (kind < 5 && !isTrimmed)
    return { author: 'system', actions: { rewind: { toSeq: Math.max(0, lastSeq - (detail % 70)) } } };
  if (kind < 25) return said('agent', { functionCall: toolOf(detail) });
  if (kind < 50) return said('agent', { functionResponse: toolOf(detail) });
  if (kind < 55) return { ...said('agent', { text: 'late' }), timestamp: now - detail * 100 };
  return said('agent', { text: 'well' });
}

function summary(toSeq: number): GivenEvent {
  const content = { role: 'user', parts: [{ text: 'In short' }] };
  return { author: 'system', content, actions: { compaction: { fromSeq: Math.max(1, toSeq - 9), toSeq } } };
}

function said(author: string, part: GivenPart): GivenEvent {
  return { author, content: { role: author, parts: [part] } };
}

function toolOf(detail: number): { id?: string; name: string } {
  const tool = detail % 12;
  return tool < 9 ? { id: `c${tool}`, name: 'f' } : { name: `g${tool}` };
}
