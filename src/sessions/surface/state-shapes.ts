import type { StateKeyChange } from '../domain/history/state-history.js';
import type { StateAtMoment, StateChangePage } from '../operations/state-history.js';
import { flag, graphqlOnly, integer, json, listOf, optional, shape, text } from './shape.js';

/** State in a body; the rules of sessions check its content. */
export const STATE = {
  type: 'object',
  description:
    'Values by key. A key without prefix belongs to the session, `user:` to all sessions of the user, `app:` to all ' +
    'sessions of the app; `temp:` is not stored.',
  additionalProperties: true,
} as const;

export const STATE_REMOVALS = {
  type: 'array',
  items: { type: 'string' },
  description: 'Keys to remove. `null` in `stateDelta` is a value and removes nothing.',
} as const;

export const STATE_EXAMPLE = { step: 2, 'user:language': 'en', 'app:currency': 'EUR' } as const;
export const SHARED_STATE_EXAMPLE = { language: 'en' } as const;

export const STATE_VALUE = json(STATE.description, STATE);

/** Any JSON value. */
const ANY = {
  oneOf: [
    { type: 'object', additionalProperties: true },
    { type: 'array', items: {} },
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
  ],
};

export const STATE_AT = shape<StateAtMoment>('StateAtMoment', {
  description: 'The state of a session at a moment.',
  example: { seq: 4, state: { step: 2 }, shared: { 'user:language': 'en' } },
  fields: {
    seq: integer(),
    state: json("The session's own state after the event."),
    shared: json('Keys of `user:` and `app:` as events of this session left them.'),
  },
});

const CHANGE_EXAMPLE = { seq: 4, eventId: 'e-4', key: 'step', scope: 'session', before: 1, after: 2 } as const;

const STATE_CHANGE = shape<StateKeyChange>('StateKeyChange', {
  description: 'What an event did to a state key.',
  example: CHANGE_EXAMPLE,
  // GraphQL has no missing fields.
  node: (change: StateKeyChange) => ({
    ...change,
    hadBefore: Object.hasOwn(change, 'before'),
    hasAfter: Object.hasOwn(change, 'after'),
  }),
  fields: {
    seq: integer('The event.', { minimum: 1 }),
    eventId: text(),
    key: text('With its prefix.'),
    scope: text('`session`, `user` or `app`.', { enum: ['session', 'user', 'app'] }),
    before: optional(
      json(
        'The value before; missing if there was none. In shared scopes, what the last earlier event of this session gave.',
        ANY,
      ),
    ),
    after: optional(json('The value after; missing if the event removed the key.', ANY)),
    hadBefore: graphqlOnly(flag('False if there was no value before; null is a value.')),
    hasAfter: graphqlOnly(flag('False if the event removed the key; null is a value.')),
  },
});

export const STATE_CHANGE_PAGE = shape<StateChangePage>('StateChangePage', {
  items: 'changes',
  graphqlName: 'StateChangeConnection',
  description: 'A page of state changes. It may be empty and have a next one.',
  example: { changes: [CHANGE_EXAMPLE], firstSeq: 1, lastSeq: 4 },
  fields: {
    changes: listOf(STATE_CHANGE),
    firstSeq: integer('The first event that is kept.', { minimum: 1 }),
    lastSeq: integer('The last event of the log.'),
    nextCursor: optional(
      text('The cursor of the next page; missing on the last page. A page without changes may have one.'),
    ),
  },
});
