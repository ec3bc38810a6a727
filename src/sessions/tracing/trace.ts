import { SessionsError } from '../domain/errors/errors.js';
import { readObjectField } from '../domain/values/json-value.js';
import { withNotedFailure } from '../domain/errors/nested-failures.js';
import { type TracedOperation, type TracedOperationName, channelOf } from './operation-channels.js';

export type Operation<Environment, Request, More, Result> = (
  environment: Environment,
  request: Request,
  more: More,
) => Promise<Result>;

/** Runs an operation of the service. If nobody listens to its channel, that is a call and nothing else. */
export function traced<Environment, Request, More, Result>(
  name: TracedOperationName,
  operation: Operation<Environment, Request, More, Result>,
  environment: Environment,
  request: Request,
  more: More,
): Promise<Result> {
  if (!channelOf(name).hasSubscribers) return withNotedFailure(operation(environment, request, more));
  return withNotedFailure(tracedRequest(name, operation, environment, request, more));
}

/** Runs other work, and describes it if somebody listens. */
export function tracedWork<Result>(
  name: TracedOperationName,
  describe: () => Omit<TracedOperation, 'operation'>,
  work: () => Promise<Result>,
): Promise<Result> {
  return withNotedFailure(channelOf(name).hasSubscribers ? heard({ operation: name, ...describe() }, work) : work());
}

function heard<Result>(told: TracedOperation, work: () => Promise<Result>): Promise<Result> {
  const observed = async (): Promise<Result> => {
    try {
      const result = await work();
      addResult(told, result);
      return result;
    } catch (error) {
      told.errorCode = error instanceof SessionsError ? error.code : 'INTERNAL';
      throw error;
    }
  };
  return channelOf(told.operation).tracePromise(() => (told.around ? told.around(observed) : observed()), told);
}

/** A function of its own: one with closures allocates them even if it returns before they are made. */
function tracedRequest<Environment, Request, More, Result>(
  name: TracedOperationName,
  operation: Operation<Environment, Request, More, Result>,
  environment: Environment,
  request: Request,
  more: More,
): Promise<Result> {
  return heard(describeRequest(name, request), () => operation(environment, request, more));
}

/** What a request says of its session. It is not checked yet, so it may hold anything. */
function describeRequest(operation: TracedOperationName, request: unknown): TracedOperation {
  const owner = readObjectField(request, 'session') ?? request;
  const ids = { appName: readTextField(owner, 'appName'), userId: readTextField(owner, 'userId') };
  const sessionId = readTextField(owner, 'sessionId') ?? readTextField(owner, 'id');
  if (operation !== 'fork') return { operation, ...ids, sessionId };
  return { operation, ...ids, sessionId: readTextField(request, 'newSessionId'), sourceSessionId: sessionId };
}

/** What only the result says. */
function addResult(told: TracedOperation, result: unknown): void {
  if (told.operation === 'append') told.storedEvents = storedEventsIn(result);
  if (MAKES_SESSION.has(told.operation))
    told.sessionId = readTextField(readObjectField(result, 'session') ?? result, 'id');
}

const MAKES_SESSION: ReadonlySet<TracedOperationName> = new Set(['create', 'getOrCreate', 'fork', 'run']);

function storedEventsIn(result: unknown): number {
  if (readObjectField(result, 'duplicate') === true) return 0;
  const events = readObjectField(result, 'events');
  // Partial events are handed back without a place in the log.
  return Array.isArray(events) ? events.filter((event) => readObjectField(event, 'seq') !== undefined).length : 1;
}

function readTextField(value: unknown, name: string): string | undefined {
  const field = readObjectField(value, name);
  return typeof field === 'string' ? field : undefined;
}
