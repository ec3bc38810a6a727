import type { ListEventsRequest } from '../operations/list-events.js';
import type { ListSessionsRequest } from '../operations/list-sessions.js';

/** Paging arguments in GraphQL. */
interface Page {
  readonly first?: number | undefined;
  readonly after?: string | undefined;
}

export type SessionPageRequest = Pick<ListSessionsRequest, 'appName' | 'userId' | 'order' | 'orderBy' | 'filter'> &
  Page;
export type EventPageRequest = Omit<ListEventsRequest, 'limit' | 'cursor'> & Page;
