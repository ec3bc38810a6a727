import type { LoggedEvent, SessionService } from '../../src/index.js';
import type { SessionClient } from '../../src/testing/open-sessions.js';
import { ROWS, ROW_NAMES, type RowName } from '../transports/rows.js';
import { resultOf } from './answers.js';
import type { GraphqlApp } from './graphql-app.js';
import { LiveWatch } from './live-watch.js';
import { RemoteError } from './remote-error.js';
import { documentOf, rootField } from './schema-documents.js';
import { variablesOf } from './variables.js';

/** Of an event, the body has everything. */
const ONLY = { Event: ['body'] };

/** What the service calls the arguments of a page. */
const NAMES_OF_ARGUMENTS: Readonly<Record<string, string>> = { after: 'cursor', first: 'limit' };

/** Methods whose row has another name. */
const OTHER_ROWS = {
  listSessions: 'listAppSessions',
  stateAt: 'getSessionStateAt',
  stateChanges: 'listStateChanges',
} as const satisfies Partial<Record<keyof SessionClient, RowName>>;

type Request<Method extends keyof SessionClient> = Parameters<SessionClient[Method]>[0];
type Result<Method extends keyof SessionClient> = ReturnType<SessionClient[Method]>;

/** The interface of the service over GraphQL, for its contract: each method asks the field of its row, but for those below. */
export class GraphqlSessions {
  readonly #watches: LiveWatch[] = [];

  private constructor(
    private readonly app: GraphqlApp,
    private readonly service: SessionService,
  ) {
    const rows = [...ROW_NAMES.map((name) => [name, name]), ...Object.entries(OTHER_ROWS)] as [string, RowName][];
    for (const [method, row] of rows) {
      if (method in this) continue;
      Object.defineProperty(this, method, { value: async (request: object) => this.#ask(row, request) });
    }
  }

  static over(app: GraphqlApp, service: SessionService): GraphqlSessions & SessionClient {
    return new GraphqlSessions(app, service) as GraphqlSessions & SessionClient;
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) await watch.return();
  }

  async purgeExpired(options: Request<'purgeExpired'>): Result<'purgeExpired'> {
    return this.service.purgeExpired(options);
  }

  async whenIdle(): Promise<void> {
    await this.service.whenIdle();
  }

  async getSession({ config, ...key }: Request<'getSession'>): Result<'getSession'> {
    return this.#ask('getSession', { ...key, ...config });
  }

  async listSessions(request: Request<'listSessions'>): Result<'listSessions'> {
    return { limit: request.limit ?? 100, ...(await this.#ask<object>('listAppSessions', request)) } as Awaited<
      Result<'listSessions'>
    >;
  }

  async explainView({ config, ...request }: Request<'explainView'>): Result<'explainView'> {
    return this.#ask('explainView', { ...request, ...config });
  }

  watch({ appName, userId, sessionId, afterSeq, stateDeltas }: Request<'watch'>): LiveWatch {
    const variables = { appName, userId, sessionId, afterSeq, stateDeltas };
    const watch = new LiveWatch({ url: this.app.webSocketUrl, variables });
    this.#watches.push(watch);
    return watch;
  }

  async appendEvent(request: Request<'append'>): Promise<unknown> {
    return (await this.append(request)).event ?? request.event;
  }

  async append({ session: { id: sessionId, appName, userId }, ...request }: Request<'append'>): Result<'append'> {
    return this.#ask('appendEvent', { appName, userId, sessionId, ...request });
  }

  async appendEvents(request: Request<'appendEvents'>): Result<'appendEvents'> {
    return (await this.appendBatch(request)).events;
  }

  async appendBatch({
    session: { id: sessionId, appName, userId },
    ...request
  }: Request<'appendBatch'>): Result<'appendBatch'> {
    const answer = await this.#ask<Awaited<Result<'appendBatch'>>>('appendEvents', {
      appName,
      userId,
      sessionId,
      ...request,
    });
    return { ...answer, events: answer.events.map((event, index) => event ?? request.events[index]) };
  }

  /** Changes of an object are only in that object. */
  async updateSession(): Promise<LoggedEvent | undefined> {
    throw new Error('There is no session object on this side');
  }

  async beginTurn(request: Request<'beginTurn'>): Result<'beginTurn'> {
    return this.#turn('beginTurn', request);
  }

  async renewTurn(request: Request<'renewTurn'>): Result<'renewTurn'> {
    return this.#turn('renewTurn', request);
  }

  /** GraphQL does not repeat the ids. */
  async #turn(name: 'beginTurn' | 'renewTurn', request: Request<'beginTurn'>): Result<'beginTurn'> {
    const { appName, userId, sessionId } = request;
    return { appName, userId, sessionId, ...(await this.#ask<object>(name, request)) } as Awaited<Result<'beginTurn'>>;
  }

  async #ask<Answer>(name: RowName, request: object): Promise<Answer> {
    const { graphql, result } = ROWS[name];
    // A session with its view is no field of a row.
    const field = graphql?.name ?? 'session';
    const { schema } = this.app;
    const turn =
      'turn' in request && typeof request.turn === 'object' ? (request.turn as { token?: unknown }) : undefined;
    const variables = variablesOf(name, { ...request, ...(turn && { turn: turn.token }) });
    const { data, errors } = await this.app.ask(documentOf(schema, field, ONLY), variables);
    const [error] = errors;
    if (error) throw new RemoteError(error, NAMES_OF_ARGUMENTS);
    const items = result && 'items' in result ? result.items : undefined;
    return resultOf(rootField(schema, field).type, data[field], items) as Answer;
  }
}
