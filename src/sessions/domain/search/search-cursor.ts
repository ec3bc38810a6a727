import { InvalidInputError } from '../errors/errors.js';
import { isId } from '../values/ids.js';
import { isCount } from '../values/input-checks.js';
import { encodeFields, parseFields } from '../values/paging.js';
import type { SearchMatch, SearchPosition } from './search-groups.js';

/** Where a search without an index goes on: in a session, before an event. */
export interface ScanPosition {
  readonly createTime: number;
  readonly sessionId: string;
  readonly beforeSeq: number;
}

/** The end of a page of hits. */
export interface SearchCursor {
  /** What the groups of the search weighed on the first page, so that the pages have one order. */
  readonly weights: readonly number[];
  /** The last hit of the page; missing if the next page begins with a new part of the logs. */
  readonly position?: SearchPosition | undefined;
  /** Where the part of the logs begins that is searched; missing with an index. */
  readonly scan?: ScanPosition | undefined;
}

const MOST_WEIGHT = 1_000;

export function searchCursorText({ weights, position, scan }: SearchCursor): string {
  const ofPosition = position && [position.weight, position.at, position.sessionId, position.seq];
  const ofScan = scan && [scan.createTime, scan.sessionId, scan.beforeSeq];
  return encodeFields(['search', weights, ofPosition ?? [], ofScan ?? []]);
}

/** What a cursor has to fit. */
interface Searched {
  readonly words: number;
  readonly match: SearchMatch;
  readonly hasIndex: boolean;
}

/** Clients can forge cursors, so each part that the search relies on is checked. */
export function parsedSearchCursor(text: unknown, { words, match, hasIndex }: Searched): SearchCursor | undefined {
  const fields = parseFields(text, refuse);
  if (!fields) return undefined;
  const [kind, weights, position, scan, ...rest] = fields;
  const fits =
    kind === 'search' &&
    Array.isArray(weights) &&
    weights.every((weight) => isCount(weight) && weight <= MOST_WEIGHT) &&
    Array.isArray(position) &&
    Array.isArray(scan) &&
    rest.length === 0;
  if (!fits) return refuse();
  const cursor: SearchCursor = { weights, position: parseSearchPosition(position), scan: scanOf(scan) };
  const isWeighed = weights.length === (match === 'all' ? 1 : words) && weights.some((weight) => weight > 0);
  const goesOn = cursor.position ? isWeighed : weights.length === 0 && cursor.scan !== undefined;
  // An index has no parts, and what is read has no other place.
  return goesOn && hasIndex === (cursor.scan === undefined) ? cursor : refuse();
}

function parseSearchPosition([weight, at, sessionId, seq, ...rest]: readonly unknown[]): SearchPosition | undefined {
  if (weight === undefined) return undefined;
  const fits = isCount(weight) && Number.isSafeInteger(at) && isId(sessionId) && isCount(seq) && rest.length === 0;
  return fits ? { weight, at: at as number, sessionId, seq } : refuse();
}

function scanOf([createTime, sessionId, beforeSeq, ...rest]: readonly unknown[]): ScanPosition | undefined {
  if (createTime === undefined) return undefined;
  const fits = Number.isSafeInteger(createTime) && isId(sessionId) && isCount(beforeSeq) && rest.length === 0;
  return fits ? { createTime: createTime as number, sessionId, beforeSeq } : refuse();
}

function refuse(): never {
  throw new InvalidInputError('must be the nextCursor of a page of the same search', 'cursor');
}
