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

/** Methods of the services that no client reaches, and why. */
export const NOT_REMOTE = {
  appendEvent: 'it is `append`, and returns partial events as they are; both transports do the same',
  appendEvents: 'it is `appendBatch` without the answer whether the events were stored before',
  updateSession: 'it saves what changed in a session object; clients have none',
  change: 'it runs a function of the caller; clients read and append with `expectedVersion`',
  withTurn: 'it runs a function of the caller; clients begin, renew and end turns',
  checkBudget: 'the server does it before a turn',
  listApps: 'operators do it; REST asks the rules of access about each app: test/rest/apps',
  purgeExpired: 'the server does it',
  eraseUser: 'operators do it, and the rules of access have no such right',
  consume: 'its handler is a function of the process',
  sweep: 'the server does it',
  counts: 'for metrics of the server',
  whenIdle: 'for tests and for the end of the process',
  finish: 'for the end of the process',
  close: 'for the end of the process',
} as const;

type Of<Service, Method extends keyof Service> = Service[Method] extends (request: infer Request) => infer Result
  ? Operation<Request, Awaited<Result>>
  : never;
type MethodsOf<Service> = {
  [Name in keyof Service]: Service[Name] extends (...request: never[]) => unknown ? Name : never;
}[keyof Service];
type Served = Exclude<MethodsOf<SessionService>, keyof typeof NOT_REMOTE | 'watch'>;
type Summarised = Exclude<MethodsOf<SummarizerSessionManager>, keyof typeof NOT_REMOTE>;

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
