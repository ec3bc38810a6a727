import type { SessionKey, StateOwner, UserKey } from '../domain/values/ids.js';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { defined } from '../domain/values/json-value.js';
import { type Session, referenceTo } from '../domain/session/session.js';
import type { StateAtRequest, StateChangesRequest } from '../operations/state-history.js';
import { CHANGES_APP_STATE, CHANGES_STATE, CHANGES_USER_STATE } from '../transport/request-writes.js';
import { readsOf } from '../reads-of.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { PAGE, SEEN } from './ids-and-pages.js';
import { EVENT } from './event-shapes.js';
import { rowOf, surface } from './operation.js';
import { APP, SESSION, USER } from './paths.js';
import { type Fields, integer, json, listOf, optional, text } from './shape.js';
import {
  SHARED_STATE_EXAMPLE,
  STATE,
  STATE_AT,
  STATE_CHANGE_PAGE,
  STATE_EXAMPLE,
  STATE_REMOVALS,
  STATE_VALUE,
} from './state-shapes.js';

interface Changes {
  readonly stateDelta?: Record<string, unknown> | undefined;
  readonly stateRemovals?: string[] | undefined;
}

/** Unchecked: the rules of sessions check them. */
const CHANGES: Fields = {
  stateDelta: optional(json(STATE.description, STATE)),
  stateRemovals: optional(listOf(text(), STATE_REMOVALS.description)),
};

const CHANGE_BODY = {
  name: 'StateChange',
  example: { stateDelta: { step: 3, language: 'de' }, stateRemovals: ['draft'] },
};

const SHARED = { answers: 'The state.', example: SHARED_STATE_EXAMPLE } as const;
const CHANGED_SHARED = { ...SHARED, answers: 'The state as it is now.', body: CHANGE_BODY } as const;

const row = rowOf<{ sessions: SessionService }>();

/** The state of a session with all scopes, of a user, and of an app; and that of a session at any moment. */
export const STATE_OPERATIONS = surface({
  tag: 'state',
  services: { sessions: SERVED_SESSIONS },
  operations: {
    getSessionState: row({
      summary: 'Returns all state that the session sees',
      access: ['read', 'session'],
      result: STATE_VALUE,
      async run(key: SessionKey, { services }) {
        const session = await services.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
        if (!session) throw new SessionNotFoundError(key.sessionId);
        return session;
      },
      route: {
        at: `GET ${SESSION}/state`,
        answers: 'The state.',
        example: STATE_EXAMPLE,
        etag: ({ version }: Session) => version,
        reply: ({ state }: Session) => state.toJSON(),
      },
    }),
    updateSessionState: row({
      summary: 'Changes state by an event of `system`, and returns it',
      access: ['write', 'session', CHANGES_STATE],
      request: CHANGES,
      keepsVersion: true,
      turn: 'in or ending',
      result: EVENT,
      run: (
        { appName, userId, sessionId, stateDelta, stateRemovals, ...conditions }: SessionKey & Changes,
        { services },
      ) =>
        services.sessions.appendEvent({
          session: referenceTo({ appName, userId, sessionId }),
          event: { author: 'system', actions: defined({ stateDelta, stateRemovals }) },
          ...conditions,
        }),
      route: {
        at: `PATCH ${SESSION}/state`,
        answers: 'The event.',
        body: CHANGE_BODY,
        holds: 'its body',
        etag: ({ seq }: LoggedEvent) => seq,
      },
      graphql: { type: 'mutation', name: 'updateSessionState' },
    }),
    getUserState: row({
      summary: 'Returns the state that all sessions of a user share; keys without `user:`',
      access: ['read', 'userState'],
      result: STATE_VALUE,
      run: (user: UserKey, { services }) => services.sessions.getUserState(user),
      route: { at: `GET ${USER}/state`, ...SHARED },
      graphql: { type: 'query', name: 'userState' },
    }),
    updateUserState: row({
      summary: 'Changes the state that all sessions of a user share; keys with or without `user:`',
      access: ['write', 'userState', CHANGES_USER_STATE],
      request: CHANGES,
      result: STATE_VALUE,
      run: (request: UserKey & Changes, { services }) => services.sessions.updateUserState(request),
      route: { at: `PATCH ${USER}/state`, ...CHANGED_SHARED },
      graphql: { type: 'mutation', name: 'updateUserState' },
    }),
    getAppState: row({
      summary: 'Returns the state that all sessions of an app share; keys without `app:`',
      access: ['read', 'appState'],
      result: STATE_VALUE,
      run: (app: StateOwner, { services }) => services.sessions.getAppState(app),
      route: { at: `GET ${APP}/state`, ...SHARED },
      graphql: { type: 'query', name: 'appState' },
    }),
    updateAppState: row({
      summary: 'Changes the state that all sessions of an app share; keys with or without `app:`',
      access: ['write', 'appState', CHANGES_APP_STATE],
      request: CHANGES,
      result: STATE_VALUE,
      run: (request: StateOwner & Changes, { services }) => services.sessions.updateAppState(request),
      route: { at: `PATCH ${APP}/state`, ...CHANGED_SHARED },
      graphql: { type: 'mutation', name: 'updateAppState' },
    }),
    getSessionStateAt: row({
      summary: "Returns the session's own state as it was after an event",
      access: ['read', 'session'],
      request: { seq: integer('The last event of that moment; 0 for the initial state.'), ...SEEN },
      result: STATE_AT,
      run: (request: StateAtRequest, { services }) => readsOf(services.sessions).stateAt(request),
      route: { at: `GET ${SESSION}/state/at`, answers: 'The state at that moment.' },
      graphql: { type: 'query', name: 'sessionStateAt' },
    }),
    listStateChanges: row({
      summary: 'Lists which event changed which state key from what to what',
      access: ['read', 'session'],
      request: {
        ...PAGE,
        ...SEEN,
        afterSeq: optional(integer('Only changes by events after this one.')),
        key: optional(text('Only changes of this key, with its prefix.')),
      },
      result: STATE_CHANGE_PAGE,
      run: (request: StateChangesRequest, { services }) => readsOf(services.sessions).stateChanges(request),
      route: { at: `GET ${SESSION}/state/changes`, answers: 'A page of changes.' },
      graphql: { type: 'query', name: 'sessionStateChanges' },
    }),
  },
});
