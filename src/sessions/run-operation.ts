import { isTurnOfOthers, leaveToOthers } from './domain/process/event-loop-turn.js';
import {
  type RequestMethod,
  type RunBy,
  type RunMethod,
  SERVICE_OPERATIONS,
  type ServiceChannel,
  checkedRequest,
} from './service-operations.js';
import type { SessionEnvironment } from './session-environment.js';
import { type Operation, traced } from './tracing/trace.js';

type Run<Method extends RunMethod> = Parameters<RunBy<Method>>;
type Result<Method extends RunMethod> = Awaited<ReturnType<RunBy<Method>>>;

/** Runs the operation of a method of the service. */
export function runOperation<Method extends RunMethod>(
  env: SessionEnvironment,
  method: Method,
  request: Run<Method>[1],
  more?: Run<Method>[2],
): Promise<Result<Method>> {
  const { channel, run } = SERVICE_OPERATIONS[method];
  return runTracked(
    channel,
    run as Operation<SessionEnvironment, unknown, unknown, Result<Method>>,
    env,
    request,
    more,
  );
}

/** The same on a request whose fields are checked. */
export function runOnRequest<Method extends RunMethod & RequestMethod>(
  env: SessionEnvironment,
  method: Method,
  request: Run<Method>[1] & object,
): Promise<Result<Method>> {
  return runOperation(env, method, checkedRequest(method, request));
}

/** Work whose end is waited for at shutdown, and whose channel tells of it to who listens. */
export function runTracked<Request, More, Outcome>(
  channel: ServiceChannel,
  operation: Operation<SessionEnvironment, Request, More, Outcome>,
  env: SessionEnvironment,
  request: Request,
  more: More,
): Promise<Outcome> {
  const running = traced(channel, operation, env, request, more);
  return env.tasks.track(isTurnOfOthers() ? afterOthers(running) : running);
}

/** A store in this process answers at once, so that a loop of operations would never let others in. */
async function afterOthers<Outcome>(running: Promise<Outcome>): Promise<Outcome> {
  try {
    return await running;
  } finally {
    await leaveToOthers();
  }
}
