import { LONGEST_LEASE_MS, SHORTEST_LEASE_MS } from '../domain/background/lease-limits.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { BeginTurnRequest, EndTurnRequest, RenewTurnRequest, Turn, TurnHolder } from '../operations/turns.js';
import { TAKES_TURN } from '../transport/request-writes.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { KEY_FIELDS, id } from './ids-and-pages.js';
import { rowOf, surface } from './operation.js';
import { SESSION } from './paths.js';
import { checkedLater, integer, optional, restOnly, shape } from './shape.js';

const TTL = checkedLater(
  integer('How long the turn lasts from now on, in milliseconds; 30,000 if left out.', {
    minimum: SHORTEST_LEASE_MS,
    maximum: LONGEST_LEASE_MS,
  }),
);

const HOLDER_EXAMPLE = { holder: 'worker-7', number: 3, expiresAt: 1_767_225_630_000 };

const HOLDER_FIELDS = {
  holder: id('Who holds the turn.'),
  number: integer('Counts the turns of the session.', { minimum: 1 }),
  expiresAt: integer('When the turn is over, in epoch milliseconds by the clock of the store.'),
};

const TURN_HOLDER = shape<TurnHolder>('TurnHolder', {
  description: 'Who holds the turn of a session.',
  example: HOLDER_EXAMPLE,
  fields: HOLDER_FIELDS,
});

const TURN = shape<Turn>('Turn', {
  description: 'A turn of the caller.',
  example: {
    appName: 'shop',
    userId: 'ann',
    sessionId: 'order-7',
    token: '5f0c6c1e-6f0e-4c55-9d1a-0b9a3d1d8a52',
    ...HOLDER_EXAMPLE,
    ttlMs: 30_000,
  },
  fields: {
    appName: restOnly(KEY_FIELDS.appName),
    userId: restOnly(KEY_FIELDS.userId),
    sessionId: restOnly(KEY_FIELDS.sessionId),
    ...HOLDER_FIELDS,
    token: id('The value of `Turn-Token`, in GraphQL of `turn`, with each write. Keep it from other writers.'),
    ttlMs: TTL,
  },
});

const LOST = { 409: { description: 'The turn is over.', code: 'TURN_LOST' } };

const row = rowOf<{ sessions: SessionService }>();

/** The turn of a session. */
export const TURNS = surface({
  tag: 'turns',
  services: { sessions: SERVED_SESSIONS },
  operations: {
    getTurn: row({
      summary: 'Returns who holds the turn of the session',
      access: ['read', 'session'],
      result: TURN_HOLDER,
      run: (key: SessionKey, { services }) => services.sessions.getTurn(key),
      route: {
        at: `GET ${SESSION}/turn`,
        answers: 'The holder.',
        holds: 'little',
        others: [{ status: 204, description: 'No turn is held.' }],
      },
      graphql: { type: 'query', name: 'turn', isNullable: true },
    }),
    beginTurn: row({
      summary: 'Begins a turn',
      access: ['write', 'session', TAKES_TURN],
      request: {
        holder: id('Names the writer to others.'),
        ttlMs: optional(TTL),
        requestId: optional(id('Makes retries safe: the same holder gets its turn again.')),
      },
      result: TURN,
      run: (request: BeginTurnRequest, { services }) => services.sessions.beginTurn(request),
      route: {
        at: `POST ${SESSION}/turn`,
        answers: 'The turn.',
        holds: 'little',
        body: { name: 'NewTurn', example: { holder: 'worker-7', ttlMs: 30_000 } },
        problems: { 409: { description: 'The turn is held by `holder` until `expiresAt`.', code: 'TURN_HELD' } },
      },
      graphql: { type: 'mutation', name: 'beginTurn' },
    }),
    renewTurn: row({
      summary: 'Lets the turn last longer',
      access: ['write', 'session', TAKES_TURN],
      request: { ttlMs: optional(TTL) },
      turn: 'its own',
      result: TURN,
      run: (request: RenewTurnRequest, { services }) => services.sessions.renewTurn(request),
      route: {
        at: `PATCH ${SESSION}/turn`,
        answers: 'The turn.',
        holds: 'little',
        body: { name: 'TurnRenewal', example: { ttlMs: 30_000 } },
        problems: LOST,
      },
      graphql: { type: 'mutation', name: 'renewTurn' },
    }),
    endTurn: row({
      summary: 'Ends the turn; no error if it is over',
      access: ['write', 'session', TAKES_TURN],
      turn: 'its own',
      run: (request: EndTurnRequest, { services }) => services.sessions.endTurn(request),
      route: { at: `DELETE ${SESSION}/turn`, answers: 'The turn is over.' },
      graphql: { type: 'mutation', name: 'endTurn' },
    }),
  },
});
