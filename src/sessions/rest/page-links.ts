import { MAX_OFFSET } from '../domain/paging.js';
import { pathOf, queryOf } from './request-target.js';

/** A page as it was found, of sessions or of events. */
interface FoundPage {
  readonly limit?: number;
  readonly nextCursor?: string;
  /** Where pages are counted. */
  readonly totalItems?: number;
}

/** The header `Link` of a page, by the way that it was asked for: other pages are one step from here. */
export function pageLinks(url: string, found: FoundPage): string | undefined {
  const asked = queryOf(url);
  const links = found.totalItems === undefined ? cursorLinks(asked, found) : countedLinks(asked, found);
  const written = Object.entries(links).map(([relation, query]) => `<${pathOf(url)}?${query}>; rel="${relation}"`);
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
  // Farther than pages are counted a cursor leads.
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
