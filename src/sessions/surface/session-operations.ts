import { InvalidInputError, SessionNotFoundError } from '../domain/errors/errors.js';
import { type SessionKey, type UserKey, assertId, isBlank } from '../domain/values/ids.js';
import type { Session } from '../domain/session/session.js';
import type { GetSessionConfig } from '../domain/view/view-config.js';
import type { CreateSessionRequest } from '../operations/create-session.js';
import type { ForkSessionRequest } from '../operations/fork-session.js';
import type { ListSessionsRequest, SessionPage } from '../operations/list-sessions.js';
import type { RewindSessionRequest } from '../operations/rewind-session.js';
import { CREATES, FORKS, REWINDS } from '../transport/request-writes.js';
import { readsOf } from '../reads-of.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { PAGE, SORT_ORDER } from './ids-and-pages.js';
import { filterIn } from './list-filter.js';
import { NEW_METADATA } from './metadata-shapes.js';
import { type GraphqlField, type Operation, rowOf, surface } from './operation.js';
import { APP, SESSION, SESSIONS } from './paths.js';
import { NARROWING, SESSION as SESSION_SHAPE, SESSION_PAGE } from './session-shapes.js';
import {
  type Choice,
  type Fields,
  type Shape,
  choice,
  flag,
  graphqlOnly,
  integer,
  json,
  listOf,
  one,
  optional,
  restOnly,
  text,
} from './shape.js';
import { STATE } from './state-shapes.js';

const NEW_ID = text('Generated if it is left out.', { maxLength: 191 });
const NAME = { minLength: 1, maxLength: 191 } as const;

const NEW_SESSION: Fields = {
  state: optional(json(STATE.description, STATE)),
  metadata: optional(json('Title, status, tags, labels and fields.', NEW_METADATA)),
  turnsOnly: optional(flag('Accept only writes in a turn, and summaries.')),
};

const EXISTS = { 409: { description: 'The id is already in use.', code: 'SESSION_EXISTS' } };
const NEW_EXAMPLE = { state: { step: 1, 'user:language': 'en' } };
const versionOf = ({ version }: Session): number => version;

/** A route that creates a session. */
const CREATED = {
  answers: 'The new session.',
  etag: versionOf,
  creates: true,
  problems: EXISTS,
} as const;

const ORDER_BY: Choice = {
  name: 'SessionOrderBy',
  description: 'The time that sessions are ordered by.',
  values: ['lastUpdateTime', 'createTime'],
};

const FILTER: Shape = {
  name: 'SessionFilter',
  description: 'Sessions whose metadata has all of this.',
  fields: {
    status: optional(text()),
    tags: optional(listOf(text())),
    labels: optional(json('Text by name.')),
  },
};

const LIST: Fields = {
  ...PAGE,
  order: optional(choice(SORT_ORDER, 'Newest first by default.', { default: 'desc' })),
  orderBy: optional(
    choice(ORDER_BY, 'With `createTime`, walking through all pages is complete even while sessions change.', {
      default: 'lastUpdateTime',
    }),
  ),
  page: restOnly(optional(integer('Page number from 1, with totals; instead of `cursor`.', { minimum: 1 }))),
  offset: restOnly(optional(integer('Sessions to skip, with totals; instead of `cursor`.', { maximum: 10_000 }))),
  includeState: restOnly(
    optional(flag('Whether to read the state of the sessions; `false` answers an empty one.', { default: true })),
  ),
  status: restOnly(optional(text('Only sessions with this status. Not with `page` or `offset`.', NAME))),
  tag: restOnly(
    optional(
      listOf(
        text(undefined, NAME),
        'Only sessions with all of these tags; one parameter each. Not with `page` or `offset`.',
      ),
    ),
  ),
  label: restOnly(
    optional(
      listOf(
        text(),
        'Only sessions with all of these labels, each as `name:value`; one parameter each. Percent-encode colons and percent signs inside. Not with `page` or `offset`.',
      ),
    ),
  ),
};

const row = rowOf<{ sessions: SessionService }>();

type SessionOperation = Operation<{ sessions: SessionService }>;

/** A list of one user, or of an app. */
const list = (
  at: string,
  summary: string,
  graphql: { readonly request?: Fields; readonly graphql?: GraphqlField<ListSessionsRequest, SessionPage> } = {},
): SessionOperation =>
  row({
    summary,
    access: ['list', 'sessions'],
    isFiltered: true,
    request: { ...LIST, ...graphql.request },
    result: SESSION_PAGE,
    run: (request: ListSessionsRequest, { services, within }) =>
      readsOf(services.sessions).listSessions({ ...request, within }),
    route: {
      at: `GET ${at}`,
      answers: 'A page of sessions.',
      prepare: ({ status, tag, label, includeState = true, ...request }: ListQuery): ListSessionsRequest => ({
        ...request,
        filter: filterIn({ status, tag, label }),
        includeState,
      }),
      // A cursor cannot be combined with `page` or `offset`.
      reply: ({ nextCursor, ...page }: SessionPage) => ({
        ...page,
        ...(nextCursor !== undefined && page.totalItems === undefined && { nextCursor }),
      }),
    },
    ...(graphql.graphql && { graphql: graphql.graphql }),
  });

interface ListQuery extends ListSessionsRequest {
  readonly status?: string;
  readonly tag?: string | string[];
  readonly label?: string | string[];
}

/** Sessions: create, get, list, delete, rewind, fork. */
export const SESSION_OPERATIONS = surface({
  tag: 'sessions',
  services: { sessions: SERVED_SESSIONS },
  operations: {
    createSession: row({
      summary: 'Creates a session',
      access: ['create', 'sessions', CREATES],
      request: { ...NEW_SESSION, sessionId: optional(NEW_ID) },
      result: SESSION_SHAPE,
      run: (request: CreateSessionRequest, { services }) => services.sessions.createSession(request),
      route: {
        at: `POST ${SESSIONS}`,
        body: { name: 'NewSession', example: NEW_EXAMPLE },
        ...CREATED,
      },
      graphql: { type: 'mutation', name: 'createSession' },
    }),
    listSessions: list(SESSIONS, "Lists a user's sessions, without their events"),
    listAppSessions: list(`${APP}/sessions`, 'Lists the sessions of all users of an app', {
      request: {
        userId: graphqlOnly(optional(text('All users of the app if it is left out.'))),
        filter: graphqlOnly(optional(one(FILTER, 'All sessions by default. Pages may then be shorter.'))),
      },
      graphql: {
        type: 'query',
        name: 'sessions',
        summary: 'Lists the sessions of a user or of an app, without their events',
        selects: { includeState: 'state' },
      },
    }),
    createSessionWithId: row({
      summary: 'Creates a session with this id',
      access: ['create', 'sessions', CREATES],
      request: NEW_SESSION,
      result: SESSION_SHAPE,
      async run(request: CreateSessionRequest & SessionKey, { services }) {
        // Otherwise a blank id would count as missing, and one would be generated.
        assertId(request.sessionId, 'sessionId');
        return services.sessions.createSession(request);
      },
      route: {
        at: `POST ${SESSION}`,
        body: { name: 'NewSessionWithId', example: NEW_EXAMPLE },
        ...CREATED,
      },
    }),
    getOrCreateSession: row({
      summary: 'Returns the session with this id, and creates it if needed',
      access: ['create', 'sessions', CREATES],
      ids: ['appName', 'userId'],
      request: { ...NEW_SESSION, sessionId: optional(NEW_ID) },
      result: SESSION_SHAPE,
      async run(wanted: CreateSessionRequest & UserKey, { services, access, request }) {
        const { appName, userId, sessionId } = wanted;
        // An existing session is returned, so reading must be allowed too.
        if (!isBlank(sessionId)) {
          const asked = { action: 'read', target: 'session', appName, userId, sessionId, request } as const;
          await access.check(asked, { mayBeMissing: true, isPart: true });
        }
        return services.sessions.getOrCreateSession(wanted);
      },
      graphql: { type: 'mutation', name: 'getOrCreateSession' },
    }),
    getSession: row({
      summary: 'Returns the session with its view of the log',
      access: ['read', 'session'],
      request: NARROWING,
      result: SESSION_SHAPE,
      async run({ appName, userId, sessionId, ...config }: SessionKey & GetSessionConfig, { services }) {
        const session = await services.sessions.getSession({ appName, userId, sessionId, config });
        if (!session) throw new SessionNotFoundError(sessionId);
        return session;
      },
      route: { at: `GET ${SESSION}`, answers: 'The session.', etag: versionOf },
    }),
    deleteSession: row({
      summary: 'Deletes the session with its events; shared state stays',
      access: ['delete', 'session'],
      run: (key: SessionKey, { services }) => services.sessions.deleteSession(key),
      route: { at: `DELETE ${SESSION}`, answers: 'The session does not exist any more.' },
      graphql: { type: 'mutation', name: 'deleteSession' },
    }),
    rewindSession: row({
      summary: 'Takes the session back to an earlier event',
      description: 'Appends one event. The log keeps everything, so another rewind can undo this one.',
      access: ['write', 'session', REWINDS],
      request: {
        toSeq: optional(integer('The last event to keep; 0 takes everything back.')),
        invocationId: optional(text('Takes back this invocation and everything after it.')),
      },
      keepsVersion: true,
      turn: 'in',
      result: SESSION_SHAPE,
      run: (wanted: RewindSessionRequest, { services, access, request }) =>
        services.sessions.rewindSession({
          ...wanted,
          onServerState: access.serverStateCheck(wanted, request, 'rewind'),
        }),
      route: {
        at: `POST ${SESSION}/rewind`,
        status: 200,
        answers: 'The session as it is now.',
        body: { name: 'Rewind', description: 'Exactly one of the two fields.', example: { toSeq: 1 } },
        etag: versionOf,
        prepare(wanted: RewindSessionRequest) {
          if ((wanted.toSeq === undefined) !== (wanted.invocationId === undefined)) return wanted;
          throw new InvalidInputError(WHERE_TO, 'body');
        },
      },
      graphql: { type: 'mutation', name: 'rewindSession' },
    }),
    forkSession: row({
      summary: 'Creates a session from this one, or from its past',
      access: ['write', 'session', FORKS],
      request: {
        atSeq: optional(integer('The session as it was after this event; as it is now if left out.')),
        newSessionId: optional(NEW_ID),
      },
      result: SESSION_SHAPE,
      async run(wanted: ForkSessionRequest, { services, access, request }) {
        await access.checkFork(wanted, request);
        const onServerState = access.serverStateCheck(wanted, request, 'fork');
        return services.sessions.forkSession({ ...wanted, onServerState });
      },
      route: {
        at: `POST ${SESSION}/fork`,
        body: { name: 'Fork', example: { atSeq: 1 } },
        ...CREATED,
      },
      graphql: { type: 'mutation', name: 'forkSession' },
    }),
  },
});

const WHERE_TO = 'must hold either toSeq, the last event to keep, or invocationId, the invocation to take back';
