import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel';
import { SERVICE_CHANNELS, type ServiceChannel } from '../service-operations.js';

/** What is traced, each on the channel `agent-sessions:NAME`, and where it runs. */
export const TRACED_OPERATIONS: readonly TracedOperationName[] = [
  // SessionService
  ...SERVICE_CHANNELS,
  // AgentSessions
  'run',
  // SummarizerSessionManager
  'summary',
  // SessionSearch
  'searchEvents',
];

/** The name of what is traced, such as `append`. */
export type TracedOperationName = ServiceChannel | 'run' | 'summary' | 'searchEvents';

/**
 * One operation, as its channel tells it. Ids and counts, but no content. Node adds `result` or `error` at the end.
 *
 * @example
 * channelOf('append').asyncEnd.subscribe((message) => {
 *   const { sessionId, storedEvents, errorCode } = message as TracedOperation;
 *   console.log(sessionId, storedEvents, errorCode);
 * });
 */
export interface TracedOperation {
  readonly operation: TracedOperationName;
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  /** At the end, also if it was generated. Of a fork: the new session. */
  sessionId?: string | undefined;
  /** Of a fork: the session that it copies. */
  readonly sourceSessionId?: string | undefined;
  /** Of a run. */
  readonly agentName?: string | undefined;
  /** Of a run. */
  readonly invocationId?: string | undefined;
  /** Of an append that ended well: how many events it stored. A repetition stores none. */
  storedEvents?: number | undefined;
  /** Of an operation that failed: the stable code, or `INTERNAL` for errors that have none. */
  errorCode?: string | undefined;
  /**
   * Whoever listens to `start` may set it, to run the operation in a context of its own. Node can bind a channel to an
   * `AsyncLocalStorage`, but OpenTelemetry hides the one that it has.
   */
  around?: (<Result>(work: () => Promise<Result>) => Promise<Result>) | undefined;
}

/** Twice the same: in `@types/node` of Node 26, the two types have changed places. */
type Channel = TracingChannel<TracedOperation, TracedOperation>;

const channels = Object.fromEntries(
  TRACED_OPERATIONS.map((name) => [name, tracingChannel<TracedOperation, TracedOperation>(`agent-sessions:${name}`)]),
) as Readonly<Record<TracedOperationName, Channel>>;

/**
 * The tracing channel of an operation: `tracingChannel('agent-sessions:append')`.
 *
 * @example channelOf('append').error.subscribe(() => failedAppends.add(1));
 */
export function channelOf(operation: TracedOperationName): Channel {
  return channels[operation];
}
