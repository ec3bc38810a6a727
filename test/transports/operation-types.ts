import type { LoggedEvent, Session, SessionKey, SessionService, WatchedEvent } from '../../src/index.js';
import type { SummarizerSessionManager } from '../../src/summarizer/index.js';
import type { Call } from './recording-service.js';

/** Where a field of a request goes: over both transports, or not over one of them, and why. */
type Reach = 'everywhere' | { readonly notOverClient?: string; readonly notOverGraphql?: string };

/** A request of the service, and what the service returns. */
export interface Case<Request, Result> {
  readonly title: string;
  readonly request: Request;
  readonly result: Result;
}

interface Operation<Request, Result> {
  /** Every field that a request may have. The compiler demands a new one here, and a test demands cases with it. */
  readonly fields: { readonly [Field in keyof Required<Request>]: Reach };
  readonly cases: readonly Case<Request, Result>[];
  /** The calls of the service that it becomes. Default: the method of the same name with this request. */
  readonly calls?: (request: Request) => readonly Call[];
}

type Of<Service, Method extends keyof Service> = Service[Method] extends (request: infer Request) => infer Result
  ? Operation<Request, Awaited<Result>>
  : never;
type Served =
  | 'createSession'
  | 'getSession'
  | 'getOrCreateSession'
  | 'listSessions'
  | 'deleteSession'
  | 'listEvents'
  | 'stateAt'
  | 'stateChanges'
  | 'append'
  | 'appendBatch'
  | 'rewindSession'
  | 'beginTurn'
  | 'renewTurn'
  | 'endTurn'
  | 'getTurn'
  | 'forkSession'
  | 'getUserState'
  | 'updateUserState'
  | 'getAppState'
  | 'updateAppState';
type Summarised = 'getSessionSummary' | 'createSessionSummary' | 'listSummaries';

interface StateUpdate extends SessionKey {
  readonly stateDelta?: Record<string, unknown> | undefined;
  readonly stateRemovals?: string[] | undefined;
  readonly expectedVersion?: number | undefined;
  readonly turn?: string | undefined;
  readonly endTurn?: boolean | undefined;
}

export type Operations = { readonly [Name in Served]: Of<SessionService, Name> } & {
  readonly [Name in Summarised]: Of<SummarizerSessionManager, Name>;
} & {
  /** The result is the events that arrive. */
  readonly watch: Operation<Parameters<SessionService['watch']>[0], readonly WatchedEvent[]>;
  /** Both transports offer it. It reads a session without its events. */
  readonly getState: Operation<SessionKey, Session>;
  /** Both transports offer it. It appends an event. */
  readonly updateState: Operation<StateUpdate, LoggedEvent>;
};

export type OperationName = keyof Operations;
export type RequestOf<Name extends OperationName> = Operations[Name]['cases'][number]['request'];
export type ResultOf<Name extends OperationName> = Operations[Name]['cases'][number]['result'];
