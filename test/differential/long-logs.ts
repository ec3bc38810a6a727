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
    talk: fc.constantFrom(0, 1, 4, 20),
  });
}

interface Surroundings {
  readonly talk: number;
  /** What came before. */
  readonly log: readonly GivenEvent[];
  readonly now: number;
  /** Whether the log is trimmed: what its view lost does not come back, so nothing may reach far back. */
  readonly isTrimmed: boolean;
}

/** Distances between a call and its answer; a view is pulled back by 20 events at most. */
const DISTANCES = [1, 2, 3, 19, 20, 21];

export function eventOf(number: number, { talk, log, now, isTrimmed }: Surroundings): GivenEvent {
  const kind = number % 100;
  const detail = Math.floor(number / 100);
  const reach = 60;
  // The user says nothing that is not due to `talk`, so that anchors may be far apart.
  if (kind >= 100 - talk) return said('user', { text: 'hello' });
  if (kind < 2 && log.length > 0) return summary(Math.max(1, log.length - (detail % reach)));
  if (kind < 5 && !isTrimmed) return rewind(Math.max(0, log.length - (detail % reach)));
  if (kind < 30) return said('agent', { functionCall: detail % 4 > 0 ? { id: `c${log.length}` } : { name: 'g' } });
  if (kind < 55) return answer(log, detail);
  if (kind < 60) return { ...said('agent', { text: 'at another time' }), timestamp: now + (detail - 700) * 100 };
  return said('agent', { text: 'well' });
}

/** Answers a call that is so far back, one of these distances; without any there, it is an answer that lost its call. */
function answer(log: readonly GivenEvent[], detail: number): GivenEvent {
  const turned = [...DISTANCES.slice(detail % DISTANCES.length), ...DISTANCES];
  const calls = turned.flatMap((distance) => log[log.length - distance]?.content?.parts?.[0]?.functionCall ?? []);
  return said('agent', { functionResponse: calls[0] ?? { id: 'lost' } });
}

function summary(toSeq: number): GivenEvent {
  const content = { role: 'user', parts: [{ text: 'In short' }] };
  return { author: 'system', content, actions: { compaction: { fromSeq: Math.max(1, toSeq - 9), toSeq } } };
}

function rewind(toSeq: number): GivenEvent {
  return { author: 'system', actions: { rewind: { toSeq } } };
}

function said(author: string, part: GivenPart): GivenEvent {
  return { author, content: { role: author, parts: [part] } };
}
