import fc from 'fast-check';
import type { GivenEvent, GivenPart } from './model/entries.js';

/** A long log as numbers, which are fast to generate and to shrink. `eventOf` converts them to events. */
export interface LongLog {
  readonly numbers: readonly number[];
  /** The percentage of events by the user. */
  readonly userPercent: number;
}

export function longLogs(minLength: number, maxLength: number): fc.Arbitrary<LongLog> {
  return fc.record({
    numbers: fc.array(fc.nat({ max: 99_999 }), { minLength, maxLength, size: 'max' }),
    userPercent: fc.constantFrom(0, 1, 4, 20),
  });
}

interface LogContext {
  readonly userPercent: number;
  /** The events so far. */
  readonly log: readonly GivenEvent[];
  readonly now: number;
  /** Whether the log is trimmed. Removed events cannot come back, so summaries and rewinds must not reach far back. */
  readonly isTrimmed: boolean;
}

/** Distances between a call and its response. A view is extended by at most 20 events. */
const DISTANCES = [1, 2, 3, 19, 20, 21];

export function eventOf(number: number, { userPercent, log, now, isTrimmed }: LogContext): GivenEvent {
  const kind = number % 100;
  const detail = Math.floor(number / 100);
  const reach = 60;
  // All other events are by the agent, so that anchors can be far apart.
  if (kind >= 100 - userPercent) return message('user', { text: 'hello' });
  if (kind < 2 && log.length > 0) return summary(Math.max(1, log.length - (detail % reach)));
  if (kind < 5 && !isTrimmed) return rewind(Math.max(0, log.length - (detail % reach)));
  if (kind < 30) return message('agent', { functionCall: detail % 4 > 0 ? { id: `c${log.length}` } : { name: 'g' } });
  if (kind < 55) return answer(log, detail);
  if (kind < 60) return { ...message('agent', { text: 'at another time' }), timestamp: now + (detail - 700) * 100 };
  return message('agent', { text: 'well' });
}

/** Responds to a call at one of these distances, or has no call if there is none. */
function answer(log: readonly GivenEvent[], detail: number): GivenEvent {
  const rotated = [...DISTANCES.slice(detail % DISTANCES.length), ...DISTANCES];
  const calls = rotated.flatMap((distance) => log[log.length - distance]?.content?.parts?.[0]?.functionCall ?? []);
  return message('agent', { functionResponse: calls[0] ?? { id: 'lost' } });
}

function summary(toSeq: number): GivenEvent {
  const content = { role: 'user', parts: [{ text: 'In short' }] };
  return { author: 'system', content, actions: { compaction: { fromSeq: Math.max(1, toSeq - 9), toSeq } } };
}

function rewind(toSeq: number): GivenEvent {
  return { author: 'system', actions: { rewind: { toSeq } } };
}

function message(author: string, part: GivenPart): GivenEvent {
  return { author, content: { role: author, parts: [part] } };
}
