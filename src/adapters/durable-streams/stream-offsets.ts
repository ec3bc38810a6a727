import { InvalidInputError } from '../../sessions/domain/errors.js';

const DIGITS = 16;

/** Where a read begins: after an event, or at the end. */
export type StreamStart = number | 'now';

/** Of the form that other servers use, too. The first number says nothing here. */
const START = `${'0'.repeat(DIGITS)}_`;

/** Offsets are numbers of events, with zeros, so that they sort as texts. */
export function offsetOf(seq: number): string {
  return START + String(seq).padStart(DIGITS, '0');
}

export function seqOf(offset: string): number {
  if (!/^0{16}_\d{16}$/.test(offset)) throw new InvalidInputError('must be an offset that this server gave', 'offset');
  return Number(offset.slice(START.length));
}

/** The offset of a request; `undefined` if it has none. */
export function startOf(query: URLSearchParams): StreamStart | undefined {
  const offsets = query.getAll('offset');
  if (offsets.length > 1) throw new InvalidInputError('must be given once', 'offset');
  const [offset] = offsets;
  if (offset === undefined) return undefined;
  if (offset === 'now') return 'now';
  return offset === '-1' ? 0 : seqOf(offset);
}
