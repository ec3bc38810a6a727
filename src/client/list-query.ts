import { type SessionFilter, filterEntries } from '../sessions/domain/submitted-metadata.js';
import type { RemoteListRequest } from './remote-types.js';
import type { RequestOptions } from './requests.js';

/** The parameters of a list. */
export function listQuery({
  limit,
  cursor,
  order,
  orderBy,
  page,
  offset,
  includeState,
  filter,
}: Omit<RemoteListRequest, 'appName' | 'userId'>): RequestOptions['query'] {
  return { limit, cursor, order, orderBy, page, offset, includeState, ...(filter && filterQuery(filter)) };
}

/** Larger than any server limit. They only bound the walk. */
const LIMITS = { maxDepth: 1_000, maxEventBytes: 64 * 1024 * 1024, maxDeltaKeys: Infinity };

/** Checked here, since a URL has no place for values of other types and for other names, and would change some texts. */
function filterQuery(filter: SessionFilter): RequestOptions['query'] {
  filterEntries(filter, 'filter', LIMITS);
  const { status, tags, labels } = filter;
  return {
    status: status ?? undefined,
    tag: tags ?? undefined,
    label: labels && Object.entries(labels).map((label) => label.map(encodeURIComponent).join(':')),
  };
}
