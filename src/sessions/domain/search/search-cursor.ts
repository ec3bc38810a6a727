import { InvalidInputError } from '../errors.js';
import { isId } from '../ids.js';
import { isCount } from '../input-checks.js';
import { encodeFields, parseFields } from '../paging.js';
import type { SearchPosition } from './search-groups.js';

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
  const ofPosition = position && [position.weight, position.at, position.row];
  const ofScan = scan && [scan.createTime, scan.sessionId, scan.beforeSeq];
  return encodeFields(['search', weights, ofPosition ?? [], ofScan ?? []]);
}

/** Clients can forge cursors. @param words how many words the search has */
export function parsedSearchCursor(text: unknown, words: number): SearchCursor | undefined {
  const fields = parseFields(text, refuse);
  if (!fields) return undefined;
  const [kind, weights, position, scan, ...rest] = fields;
  const fits =
    kind === 'search' &&
    isListOf(weights, (weight) => isCount(weight) && weight <= MOST_WEIGHT) &&
    weights.length <= words &&
    isListOf(position, Number.isSafeInteger) &&
    Array.isArray(scan) &&
    rest.length === 0;
  if (!fits) return refuse();
  return { weights, position: positionOf(position), scan: scanOf(scan) };
}

function positionOf([weight, at, row, ...rest]: readonly number[]): SearchPosition | undefined {
  if (weight === undefined) return undefined;
  return at === undefined || row === undefined || rest.length > 0 ? refuse() : { weight, at, row };
}

function scanOf([createTime, sessionId, beforeSeq, ...rest]: readonly unknown[]): ScanPosition | undefined {
  if (createTime === undefined) return undefined;
  const fits = Number.isSafeInteger(createTime) && isId(sessionId) && isCount(beforeSeq) && rest.length === 0;
  return fits ? { createTime: createTime as number, sessionId, beforeSeq } : refuse();
}

function isListOf(value: unknown, fits: (item: unknown) => boolean): value is number[] {
  return Array.isArray(value) && value.every(fits);
}

function refuse(): never {
  throw new InvalidInputError('must be the nextCursor of a page of the same search', 'cursor');
}
