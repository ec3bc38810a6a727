import { type Session, toSessionView } from '../domain/session/session.js';
import type { SessionView } from '../domain/session/session.js';
import type { GetSessionConfig } from '../domain/view/view-config.js';
import type { SessionPage } from '../operations/list-sessions.js';
import { EPOCH, id } from './ids-and-pages.js';
import { EVENT, EVENT_EXAMPLE } from './event-shapes.js';
import { METADATA_EXAMPLE, SESSION_METADATA } from './metadata-shapes.js';
import { STATE_EXAMPLE, STATE_VALUE } from './state-shapes.js';
import {
  type Fields,
  type Shape,
  flag,
  graphqlOnly,
  integer,
  jsonOf,
  listOf,
  optional,
  restOnly,
  shape,
  text,
} from './shape.js';

/** How the view of a session is narrowed. */
export const NARROWING: Fields = {
  numRecentEvents: optional(integer('Only the newest events, this many; 0 for none.')),
  afterTimestamp: optional(integer('Only events of this time or later, in epoch milliseconds.')),
  afterSeq: optional(integer('Only events after this one.')),
};

const SESSION_EXAMPLE = {
  id: 'order-7',
  appName: 'shop',
  userId: 'ann',
  saveKey: 'shop/ann',
  createTime: 1_767_225_599_000,
  state: STATE_EXAMPLE,
  metadata: METADATA_EXAMPLE,
  events: [EVENT_EXAMPLE],
  lastUpdateTime: 1_767_225_600_000,
  version: 1,
  conversationCount: 1,
};

/** A session in GraphQL, and how its view was narrowed. */
export interface SessionNode extends SessionView {
  readonly narrowing: GetSessionConfig;
}

export function sessionNode(session: Session, narrowing: GetSessionConfig = {}): SessionNode {
  return { ...toSessionView(session), narrowing };
}

const THERE = { enum: [true] };

export const SESSION = shape<SessionView, Session>('Session', {
  example: SESSION_EXAMPLE,
  view: toSessionView,
  node: sessionNode,
  fields: {
    id: id(),
    appName: id(),
    userId: id(),
    state: STATE_VALUE,
    metadata: jsonOf(SESSION_METADATA, 'Title, status, tags, labels and fields; `actions.metadataDelta` changes them.'),
    // In GraphQL the events of a session have arguments.
    events: restOnly(
      listOf(
        EVENT,
        'The view: the log without rewound events, with summaries in place of the events that they cover. Empty in lists.',
      ),
    ),
    eventsTruncated: optional(
      flag('There where older events of the view were left out, since together they are too large.', THERE),
    ),
    unreadable: optional(
      text('Only in lists: the code of why the session cannot be decrypted. It has no state, title and fields then.'),
    ),
    turnsOnly: optional(flag('There if writes need a turn.', THERE)),
    createTime: integer(EPOCH),
    lastUpdateTime: integer(EPOCH),
    version: integer('The number of the last event; the value of `ETag`.'),
    conversationCount: integer('How often the user spoke, rewound events excluded.'),
    saveKey: text('Names the user across all apps, for example for a save file.'),
  },
});

const { eventsTruncated: _ofViews, events: _inGraphql, ...LISTED_FIELDS } = SESSION.fields;

/** In lists of GraphQL, sessions have no events. */
const LISTED_SESSION: Shape = {
  name: 'ListedSession',
  description: 'A session in a list, without its events.',
  node: toSessionView,
  fields: LISTED_FIELDS,
};

export const SESSION_PAGE = shape<SessionPage>('SessionPage', {
  items: 'sessions',
  graphqlName: 'SessionConnection',
  description: 'A page of sessions.',
  example: { sessions: [{ ...SESSION_EXAMPLE, events: [] }], limit: 100 },
  fields: {
    sessions: restOnly(listOf(SESSION)),
    nodes: graphqlOnly(listOf(LISTED_SESSION)),
    limit: restOnly(integer()),
    nextCursor: optional(text('The cursor of the next page; missing on the last page, and with `page` or `offset`.')),
    page: restOnly(optional(integer('Only with `page` or `offset`, like the totals.', { minimum: 1 }))),
    totalItems: restOnly(optional(integer())),
    totalPages: restOnly(optional(integer())),
  },
});
