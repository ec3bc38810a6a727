import {
  type LoggedEvent,
  Session,
  type SessionKey,
  type SessionMetadata,
  type SessionService,
  type StateKeyChange,
  type Turn,
  type TurnHolder,
  type TurnReference,
} from '../../src/index.js';
import type { ExplainedEvent, ViewExplanation } from '../../src/sessions/operations/explain-view.js';
import type { ModelRequestReport } from '../../src/sessions/domain/request-report.js';
import type { SessionRecord } from '../../src/storage.js';
import type { SessionClient } from '../../src/testing/open-sessions.js';
import { VIEW_REASONS, type ViewReason } from '../../src/sessions/domain/view-reason.js';
import { ROWS, type RowName } from '../transports/rows.js';
import type { GraphqlApp } from './graphql-app.js';
import { LiveWatch } from './live-watch.js';
import { RemoteError } from './remote-error.js';
import { documentOf } from './schema-documents.js';
import { variablesOf } from './variables.js';

/** Of an event, the body has everything. */
const ONLY = { Event: ['body'] };

type TurnAnswer = Omit<Turn, keyof SessionKey>;

interface SessionAnswer {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: Record<string, unknown>;
  readonly metadata: SessionMetadata;
  readonly createTime: number;
  readonly lastUpdateTime: number;
  readonly version: number;
  readonly conversationCount: number;
  readonly turnsOnly: boolean | null;
  readonly events?: readonly { readonly body: LoggedEvent }[];
}

interface Page {
  readonly nodes: readonly SessionAnswer[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface EventPageAnswer extends Omit<Page, 'nodes'> {
  readonly nodes: readonly { readonly body: LoggedEvent }[];
  readonly firstSeq: number;
  readonly lastSeq: number;
}

interface ChangePageAnswer extends Omit<EventPageAnswer, 'nodes'> {
  readonly nodes: readonly (StateKeyChange & { readonly hadBefore: boolean; readonly hasAfter: boolean })[];
}

interface ExplanationAnswer extends Omit<EventPageAnswer, 'nodes'>, Pick<ViewExplanation, 'view'> {
  readonly nodes: readonly (Omit<ExplainedEvent, 'by' | 'reason'> & { by: number | null; reason: string })[];
}

/** The interface of the service over GraphQL, for its contract. Operations that GraphQL lacks call the service directly. */
export class GraphqlSessions implements SessionClient {
  readonly purgeExpired: SessionClient['purgeExpired'];
  readonly whenIdle: SessionClient['whenIdle'];
  readonly #watches: LiveWatch[] = [];

  constructor(
    private readonly app: GraphqlApp,
    service: SessionService,
  ) {
    this.purgeExpired = (options) => service.purgeExpired(options);
    this.whenIdle = () => service.whenIdle();
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) await watch.return();
  }

  async createSession(request: Parameters<SessionClient['createSession']>[0]): Promise<Session> {
    return this.#create('createSession', request);
  }

  async getOrCreateSession(request: Parameters<SessionClient['createSession']>[0]): Promise<Session> {
    return this.#create('getOrCreateSession', request);
  }

  async getSession({ config = {}, ...key }: Parameters<SessionClient['getSession']>[0]): Promise<Session | undefined> {
    const session = await this.#ask<SessionAnswer | null>('getSession', { ...key, ...config });
    return session === null ? undefined : sessionOf(session);
  }

  async listSessions(request: Parameters<SessionClient['listSessions']>[0]): ReturnType<SessionClient['listSessions']> {
    const { nodes, pageInfo } = await this.#ask<Page>('listAppSessions', request);
    return { sessions: nodes.map(sessionOf), limit: request.limit ?? 100, ...cursorOf(pageInfo) };
  }

  async deleteSession(key: SessionKey): Promise<void> {
    await this.#ask('deleteSession', key);
  }

  async listEvents(request: Parameters<SessionClient['listEvents']>[0]): ReturnType<SessionClient['listEvents']> {
    const { nodes, pageInfo, ...seqs } = await this.#ask<EventPageAnswer>('listEvents', request);
    return { events: nodes.map(({ body }) => body), ...seqs, ...cursorOf(pageInfo) };
  }

  async getModelRequest(
    request: Parameters<SessionClient['getModelRequest']>[0],
  ): ReturnType<SessionClient['getModelRequest']> {
    const answer = await this.#ask<ModelRequestReport | null>('getModelRequest', request);
    return answer === null ? undefined : withoutNulls(answer);
  }

  async explainView({
    config,
    ...rest
  }: Parameters<SessionClient['explainView']>[0]): ReturnType<SessionClient['explainView']> {
    const { nodes, pageInfo, ...others } = await this.#ask<ExplanationAnswer>('explainView', { ...rest, ...config });
    const events = nodes.map(({ by, reason, ...event }) => ({
      ...event,
      reason: reasonOf(reason),
      ...(by !== null && { by }),
    }));
    return { events, ...others, view: withoutNulls(others.view), ...cursorOf(pageInfo) };
  }

  async stateAt(request: Parameters<SessionClient['stateAt']>[0]): ReturnType<SessionClient['stateAt']> {
    return this.#ask('getSessionStateAt', request);
  }

  async stateChanges(request: Parameters<SessionClient['stateChanges']>[0]): ReturnType<SessionClient['stateChanges']> {
    const { nodes, pageInfo, ...seqs } = await this.#ask<ChangePageAnswer>('listStateChanges', request);
    const changes = nodes.map(({ hadBefore, before, hasAfter, after, ...place }) => ({
      ...place,
      ...(hadBefore && { before }),
      ...(hasAfter && { after }),
    }));
    return { changes, ...seqs, ...cursorOf(pageInfo) };
  }

  watch({ appName, userId, sessionId, afterSeq, stateDeltas }: Parameters<SessionClient['watch']>[0]): LiveWatch {
    const variables = { appName, userId, sessionId, afterSeq, stateDeltas };
    const watch = new LiveWatch({ url: this.app.webSocketUrl, variables });
    this.#watches.push(watch);
    return watch;
  }

  appendEvent = (async (request: Parameters<SessionClient['append']>[0]) => {
    const answer = await this.append(request);
    return answer.event ?? request.event;
  }) as SessionClient['appendEvent'];

  async append({
    session: { id: sessionId, appName, userId },
    event,
    expectedVersion,
    turn,
    endTurn,
  }: Parameters<SessionClient['append']>[0]): ReturnType<SessionClient['append']> {
    const variables = { appName, userId, sessionId, event, expectedVersion, turn: tokenOf(turn), endTurn };
    type Answer = { readonly event: { readonly body: LoggedEvent } | null; readonly duplicate: boolean };
    const answer = await this.#ask<Answer>('appendEvent', variables);
    return { event: answer.event?.body as LoggedEvent, duplicate: answer.duplicate };
  }

  async appendBatch({
    session: { id: sessionId, appName, userId },
    events,
    expectedVersion,
    turn,
    endTurn,
  }: Parameters<SessionClient['appendBatch']>[0]): ReturnType<SessionClient['appendBatch']> {
    const variables = { appName, userId, sessionId, events, expectedVersion, turn: tokenOf(turn), endTurn };
    type Answer = { readonly events: readonly ({ readonly body: LoggedEvent } | null)[]; readonly duplicate: boolean };
    const answer = await this.#ask<Answer>('appendEvents', variables);
    const stored = answer.events.map((event, index) => event?.body ?? (events[index] as LoggedEvent));
    return { events: stored, duplicate: answer.duplicate };
  }

  appendEvents: SessionClient['appendEvents'] = async (request) => (await this.appendBatch(request)).events;

  /** Changes of an object are only in that object. */
  async updateSession(): Promise<LoggedEvent | undefined> {
    throw new Error('There is no session object on this side');
  }

  async rewindSession(request: Parameters<SessionClient['rewindSession']>[0]): Promise<Session> {
    return sessionOf(await this.#ask<SessionAnswer>('rewindSession', { ...request, turn: tokenOf(request.turn) }));
  }

  async redactEvent(request: Parameters<SessionClient['redactEvent']>[0]): ReturnType<SessionClient['redactEvent']> {
    type Answer = Omit<Awaited<ReturnType<SessionClient['redactEvent']>>, 'event'> & {
      readonly event: { readonly body: LoggedEvent };
    };
    const { event, ...answer } = await this.#ask<Answer>('redactEvent', { ...request, turn: tokenOf(request.turn) });
    return { ...answer, event: event.body };
  }

  async beginTurn(request: Parameters<SessionClient['beginTurn']>[0]): ReturnType<SessionClient['beginTurn']> {
    const { appName, userId, sessionId } = request;
    return { appName, userId, sessionId, ...(await this.#ask<TurnAnswer>('beginTurn', request)) };
  }

  async renewTurn(turn: Parameters<SessionClient['renewTurn']>[0]): ReturnType<SessionClient['renewTurn']> {
    const { appName, userId, sessionId } = turn;
    return { appName, userId, sessionId, ...(await this.#ask<TurnAnswer>('renewTurn', turn)) };
  }

  async endTurn(turn: Parameters<SessionClient['endTurn']>[0]): Promise<void> {
    await this.#ask('endTurn', turn);
  }

  async getTurn(key: SessionKey): ReturnType<SessionClient['getTurn']> {
    return (await this.#ask<TurnHolder | null>('getTurn', key)) ?? undefined;
  }

  async forkSession(request: Parameters<SessionClient['forkSession']>[0]): Promise<Session> {
    return sessionOf(await this.#ask<SessionAnswer>('forkSession', request));
  }

  async getUserState(user: Parameters<SessionClient['getUserState']>[0]): Promise<Record<string, unknown>> {
    return this.#ask('getUserState', user);
  }

  async updateUserState(request: Parameters<SessionClient['updateUserState']>[0]): Promise<Record<string, unknown>> {
    return this.#ask('updateUserState', request);
  }

  async getAppState(app: Parameters<SessionClient['getAppState']>[0]): Promise<Record<string, unknown>> {
    return this.#ask('getAppState', app);
  }

  async updateAppState(request: Parameters<SessionClient['updateAppState']>[0]): Promise<Record<string, unknown>> {
    return this.#ask('updateAppState', request);
  }

  async #create(
    operation: 'createSession' | 'getOrCreateSession',
    request: Parameters<SessionClient['createSession']>[0],
  ): Promise<Session> {
    return sessionOf(await this.#ask<SessionAnswer>(operation, request));
  }

  async #ask<Result>(name: RowName, request: object): Promise<Result> {
    // A session with its view is no field of a row.
    const field = ROWS[name].graphql?.name ?? 'session';
    const variables = variablesOf(name, { ...request });
    const { data, errors } = await this.app.ask(documentOf(this.app.schema, field, ONLY), variables);
    const [error] = errors;
    if (error) throw new RemoteError(error);
    return data[field] as Result;
  }
}

function sessionOf({ id, state, metadata, events = [], version, conversationCount, ...rest }: SessionAnswer): Session {
  const record = { ...rest, sessionId: id, lastSeq: version, counters: { turns: conversationCount } };
  return new Session(
    record as unknown as SessionRecord,
    state,
    events.map(({ body }) => body),
    metadata,
  );
}

function tokenOf(turn: TurnReference | undefined): string | undefined {
  return typeof turn === 'object' ? turn.token : turn;
}

function cursorOf({ endCursor }: Page['pageInfo']): { nextCursor?: string } {
  return endCursor === null ? {} : { nextCursor: endCursor };
}

/** The names of enums in GraphQL are in capitals. */
function reasonOf(name: string): ViewReason {
  const reason = VIEW_REASONS.find((each) => each.toUpperCase() === name.replaceAll('_', ''));
  if (!reason) throw new Error(`There is no reason ${name}`);
  return reason;
}

/** GraphQL has null where REST has nothing. */
function withoutNulls<Value>(value: Value): Value {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  const given = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(given.map(([name, each]: [string, unknown]) => [name, withoutNulls(each)])) as Value;
}
