import type { EventPage } from '../../sessions/operations/list-events.js';
import { EVENT_PAGE } from '../../sessions/surface/event-shapes.js';
import { PAGE, id } from '../../sessions/surface/ids-and-pages.js';
import { providedBy, rowOf, surface } from '../../sessions/surface/operation.js';
import { SESSION, USER } from '../../sessions/surface/paths.js';
import {
  type Choice,
  choice,
  flag,
  integer,
  listOf,
  number,
  optional,
  shape,
  text,
} from '../../sessions/surface/shape.js';
import {
  DEFAULT_AROUND,
  DEFAULT_HITS,
  type EventsAroundRequest,
  SEARCH_LIMITS,
  type SearchEventsRequest,
  type SearchHit,
  type SearchPage,
  type SearchStatus,
} from '../found-events.js';
import { SessionSearch } from '../session-search.js';

const HIT_EXAMPLE: SearchHit = {
  sessionId: 'order-7',
  seq: 12,
  id: 'e-12',
  author: 'user',
  at: 1_767_225_660_000,
  snippet: '… the parcel from Porto is late, I would like a refund …',
  score: 1,
};

const SEARCH_HIT = shape<SearchHit>('SearchHit', {
  description: 'An event that has the words of a search.',
  example: HIT_EXAMPLE,
  fields: {
    sessionId: id(),
    seq: integer('The number of the event in the log of its session.', { minimum: 1 }),
    id: id(),
    author: text(),
    at: { ...integer('The time of the event, in epoch milliseconds.'), schema: { type: 'number' } },
    snippet: text('The part of its text around the first word.'),
    score: number('How much of the search it has, from 0 to 1; a rare word counts more.'),
  },
});

const SEARCH_PAGE = shape<SearchPage>('SearchPage', {
  items: 'hits',
  graphqlName: 'SearchHitConnection',
  example: { hits: [HIT_EXAMPLE], isComplete: true },
  fields: {
    hits: listOf(SEARCH_HIT, 'The best first, of these the newest.'),
    isComplete: flag('Whether all events were looked at. If not, the next page goes on with older ones.'),
    nextCursor: optional(text('The cursor of the next page; missing on the last page.')),
  },
});

const SEARCH_STATUS = shape<SearchStatus>('SearchStatus', {
  description: 'How old the index of searches is: one for all users.',
  example: { isKept: true, isFilling: false, hasGaps: false, behindMs: 0 },
  fields: {
    isKept: flag('Whether it is kept. If not, a search finds only what was indexed before.'),
    isFilling: flag('Whether it is filled from logs that are older than it.'),
    hasGaps: flag('Whether events could not be indexed.'),
    behindMs: number(
      'For how long the oldest event that no search finds yet waits, in milliseconds; 0 if there is none.',
    ),
  },
});

const MATCH: Choice = {
  name: 'SearchMatch',
  description: 'Whether an event must have all words, or any of them.',
  values: ['all', 'any'],
};

const AROUND = { maximum: SEARCH_LIMITS.around, default: DEFAULT_AROUND };

/** The search that routes and fields serve. */
export const SERVED_SEARCH = providedBy('SearchModule', SessionSearch);

const row = rowOf<{ search: SessionSearch }>();

/** Search: finds events of a user by their words, and reads what stands around them. */
export const SEARCH = surface({
  tag: 'search',
  services: { search: SERVED_SEARCH.provide },
  operations: {
    searchEvents: row({
      summary: "Finds events in a user's sessions by their words",
      access: ['read', 'sessions'],
      isFiltered: true,
      request: {
        text: text('The words. It has no operators.', { minLength: 1, maxLength: SEARCH_LIMITS.characters }),
        sessionId: optional(id('Only events of this session.')),
        afterTimestamp: optional(integer('Only events of this time and later, in epoch milliseconds.')),
        match: optional(choice(MATCH, 'All words by default. For questions, any of them.', { default: 'all' })),
        limit: optional({
          ...integer('Hits per page.', { minimum: 1, maximum: SEARCH_LIMITS.hits, default: DEFAULT_HITS }),
          int32: { default: DEFAULT_HITS },
        }),
        cursor: PAGE.cursor,
      },
      result: SEARCH_PAGE,
      run: (request: SearchEventsRequest, { services, within }) => services.search.searchEvents({ ...request, within }),
      route: { at: `GET ${USER}/search`, answers: 'A page of hits.' },
      graphql: { type: 'query', name: 'searchEvents' },
    }),
    searchStatus: row({
      summary: 'Says how old the index of searches is',
      access: ['read', 'sessions'],
      // It says nothing of any session.
      isFiltered: true,
      result: SEARCH_STATUS,
      run: (user: Parameters<SessionSearch['status']>[0], { services }) => services.search.status(user),
      route: { at: `GET ${USER}/search/status`, answers: 'The status.', holds: 'little' },
      graphql: { type: 'query', name: 'searchStatus' },
    }),
    eventsAround: row({
      summary: 'Reads the events before and after one',
      access: ['read', 'session'],
      request: {
        seq: integer('The event.', { minimum: 1 }),
        before: optional(integer('How many events before it.', AROUND)),
        after: optional(integer('How many events after it.', AROUND)),
      },
      result: EVENT_PAGE,
      run: (request: EventsAroundRequest, { services }): Promise<EventPage> => services.search.eventsAround(request),
      route: { at: `GET ${SESSION}/events/around`, answers: 'The events, in the order of the log.' },
      graphql: { type: 'query', name: 'eventsAround' },
    }),
  },
});
