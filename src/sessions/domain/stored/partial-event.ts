import { InvalidInputError } from '../errors/errors.js';
import { expiresAt, isExpired } from '../values/expiry.js';
import type { SessionKey } from '../values/ids.js';
import type { SessionRecord } from './session-record.js';

/** How many partial events of a turn can be saved. */
export const MAX_PARTIALS_PER_TURN = 2 ** 20 - 1;

/** A piece of an answer to save, while the answer is not complete. */
export interface PartialWrite {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** The turn under which it is saved. */
  readonly turnToken: string;
  /** 1, 2, 3 … in this turn, up to {@link MAX_PARTIALS_PER_TURN}. A write with the same number replaces it. */
  readonly index: number;
  /** The message that it belongs to: a valid id. */
  readonly messageId: string;
  /** Opaque. */
  readonly content: string;
  /** How long it is kept, unless a commit ends the message before. */
  readonly ttlMs: number;
}

/** A saved piece of an answer. */
export interface StoredPartial {
  /** Its number in the session: grows from turn to turn, and is never used again. */
  readonly number: number;
  /** The last event of the log when it was saved. */
  readonly afterSeq: number;
  readonly messageId: string;
  readonly content: string;
  readonly expiresAt: number;
}

/** The outcome of a write. */
export type PartialOutcome =
  | { readonly kind: 'saved'; readonly partial: StoredPartial }
  /** The turn is over, or the session is gone. */
  | { readonly kind: 'lost' };

/** Which saved pieces a commit removes: those of these messages, or all. */
export type EndedPartials = readonly string[] | 'all';

/**
 * Decides about a write. If it is `saved`, the partial event of the outcome is kept, instead of one with the same number, and nothing
 * else changes.
 */
export function partialOutcome(
  { incarnation, turnToken, index, messageId, content, ttlMs }: PartialWrite,
  record: Pick<SessionRecord, 'incarnation' | 'lastSeq' | 'turn'>,
  now: number,
): PartialOutcome {
  const { turn, lastSeq: afterSeq } = record;
  if (record.incarnation !== incarnation || turn.token !== turnToken || isExpired(turn.expiresAt, now))
    return { kind: 'lost' };
  const number = turn.number * (MAX_PARTIALS_PER_TURN + 1) + index;
  return { kind: 'saved', partial: { number, afterSeq, messageId, content, expiresAt: expiresAt(now, { ttlMs }) } };
}

/**
 * The partial events that a commit leaves.
 *
 * @example partials = partialsLeft(partials, commit.endsPartials);
 */
export function partialsLeft<Partial extends Pick<StoredPartial, 'messageId'>>(
  partials: Partial[],
  ended: EndedPartials | undefined,
): Partial[] {
  if (ended === undefined || partials.length === 0) return partials;
  return ended === 'all' ? [] : partials.filter(({ messageId }) => !ended.includes(messageId));
}

/** How far a reader of events and partial events has come. */
export interface StreamPosition {
  /** The last event. */
  readonly seq: number;
  /** The number of the last partial event; 0 for none. */
  readonly partial: number;
}

/**
 * A position as text: `12`, or, after partial events, `12.4-17`, the 17th one of the 4th turn.
 *
 * @example positionText({ seq: 12, partial: 0 }); // '12'
 */
export function positionText({ seq, partial }: StreamPosition): string {
  if (partial === 0) return String(seq);
  const size = MAX_PARTIALS_PER_TURN + 1;
  return `${seq}.${Math.floor(partial / size)}-${partial % size}`;
}

/** What {@link positionText} returns. */
export const POSITION_PATTERN = String.raw`^\d{1,15}(\.\d{1,9}-\d{1,7})?$`;

/** Reads what {@link positionText} returned; undefined for other text. */
function positionIn(text: string): StreamPosition | undefined {
  if (!new RegExp(POSITION_PATTERN).test(text)) return undefined;
  const [seq, turn = 0, index = 0] = text.split(/[.-]/).map(Number) as [number, number?, number?];
  const position = { seq, partial: turn * (MAX_PARTIALS_PER_TURN + 1) + index };
  return index > MAX_PARTIALS_PER_TURN || positionText(position) !== text ? undefined : position;
}

/**
 * Where a reader of a stream is, of the text that it sent back, such as `12`. Refuses other text, and names the field that has it.
 *
 * @example const { seq } = checkedPosition(lastEventId, 'Last-Event-ID');
 */
export function checkedPosition(text: unknown, path: string): StreamPosition {
  const position = typeof text === 'string' ? positionIn(text) : undefined;
  if (position) return position;
  throw new InvalidInputError('must be the position of an event of a stream, like 12 or 12.4-17', path);
}
