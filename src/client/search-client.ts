import type { EventsAroundRequest, SearchEventsRequest, SearchPage, SearchStatus } from '../search/found-events.js';
import type { EventPage } from '../sessions/operations/list-events.js';
import type { UserKey } from '../sessions/domain/values/ids.js';
import { searchPath, sessionPath } from './paths.js';
import type { Requests } from './requests.js';

/** What to search for. The server adds the filter of its access rule, and reads one part of the logs. */
export type RemoteSearchRequest = Omit<SearchEventsRequest, 'within' | 'parts'>;

/** The part of the client for the routes of `SearchRestModule`. */
export abstract class SearchClient {
  readonly #requests: Requests;

  protected constructor(requests: Requests) {
    this.#requests = requests;
  }

  /**
   * Finds events of a user by their words: the best first, of these the newest.
   * @example const { hits } = await client.searchEvents({ appName: 'shop', userId: 'ann', text: 'refund' });
   */
  async searchEvents({ appName, userId, ...query }: RemoteSearchRequest): Promise<SearchPage> {
    return this.#requests.json('GET', searchPath({ appName, userId }), { query, isRepeatable: true });
  }

  /**
   * How old the index of searches is.
   * @example const { behindMs } = await client.searchStatus({ appName: 'shop', userId: 'ann' });
   */
  async searchStatus(owner: UserKey): Promise<SearchStatus> {
    return this.#requests.json('GET', `${searchPath(owner)}/status`, { isRepeatable: true });
  }

  /**
   * Reads what was said around an event.
   * @example const { events } = await client.eventsAround({ ...owner, sessionId: hit.sessionId, seq: hit.seq });
   */
  async eventsAround({ appName, userId, sessionId, ...query }: EventsAroundRequest): Promise<EventPage> {
    const path = `${sessionPath({ appName, userId, sessionId })}/events/around`;
    return this.#requests.json('GET', path, { query: { ...query }, isRepeatable: true });
  }
}
