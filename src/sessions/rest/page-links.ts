import { MAX_OFFSET } from '../domain/values/paging.js';

/** A page of sessions or events. */
interface FoundPage {
  readonly limit?: number;
  readonly nextCursor?: string;
  /** With `page` or `offset` only. */
  readonly totalItems?: number;
}

/** Builds the `Link` header of a page, with the same kind of paging as the request. */
export function pageLinks(url: string, found: FoundPage): string | undefined {
  const asked = parseRequestQuery(url);
  const links = found.totalItems === undefined ? cursorLinks(asked, found) : countedLinks(asked, found);
  const written = Object.entries(links).map(
    ([relation, query]) => `<${parseRequestPath(url)}?${query}>; rel="${relation}"`,
  );
  return written.length === 0 ? undefined : written.join(', ');
}

function cursorLinks(asked: URLSearchParams, { nextCursor }: FoundPage): Record<string, string> {
  return {
    ...(asked.has('cursor') && { first: changed(asked, { cursor: undefined }) }),
    ...(nextCursor !== undefined && { next: changed(asked, { cursor: nextCursor }) }),
  };
}

function countedLinks(
  asked: URLSearchParams,
  { limit = 0, totalItems = 0, nextCursor }: FoundPage,
): Record<string, string> {
  const page = asked.get('page');
  const offset = page === null ? Number(asked.get('offset')) : (Number(page) - 1) * limit;
  const at = (place: number): string =>
    changed(asked, page === null ? { offset: place } : { page: Math.floor(place / limit) + 1 });
  const next = offset + limit;
  // Beyond the largest offset, paging continues by cursor.
  const onwards =
    next <= MAX_OFFSET ? at(next) : changed(asked, { cursor: nextCursor, page: undefined, offset: undefined });
  return {
    ...(limit > 0 && offset > 0 && { first: at(0), prev: at(Math.max(0, offset - limit)) }),
    ...(limit > 0 && next < totalItems && { next: onwards }),
  };
}

function changed(asked: URLSearchParams, changes: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams(asked);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) query.delete(name);
    else query.set(name, String(value));
  }
  return query.toString();
}

/** The authority of an absolute request target. */
const AUTHORITY = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;
/** Characters to encode before a path is repeated in a header. */
const NO_PATH_CHARACTER = /[^\w!$&'()*+,;=:@%/.~-]/g;

/** The original path of a request. `URL` would normalize dots and backslashes, which ids may contain. */
export function parseRequestPath(target: string): string {
  const [path = ''] = target.replace(AUTHORITY, '').split(/[?#]/);
  return path.replace(NO_PATH_CHARACTER, encodeURIComponent);
}

export function parseRequestQuery(target: string): URLSearchParams {
  const [withQuery = ''] = target.split('#');
  return new URLSearchParams(withQuery.includes('?') ? withQuery.slice(withQuery.indexOf('?')) : '');
}
