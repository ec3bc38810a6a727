import { isTurnOfOthers, leaveToOthers } from './domain/event-loop-turn.js';
import { checkedRequest, type RequestMethod, SERVICE_OPERATIONS, type TracedMethod } from './service-operations.js';
import type { SessionEnvironment } from './session-environment.js';
import { type Operation, traced } from './tracing/trace.js';

/** Runs an operation of the service: its end is waited for at shutdown, and its channel tells it to who listens. */
export function runOperation<Request, Result, More = undefined>(
  env: SessionEnvironment,
  method: TracedMethod,
  operation: Operation<SessionEnvironment, Request, More | undefined, Result>,
  request: Request,
  more?: More,
): Promise<Result> {
  const running = traced(SERVICE_OPERATIONS[method].channel, operation, env, request, more);
  return env.tasks.track(isTurnOfOthers() ? afterOthers(running) : running);
}

/** The same on a request whose fields are checked. */
export function runOnRequest<Request extends object, Result>(
  env: SessionEnvironment,
  method: TracedMethod & RequestMethod,
  operation: Operation<SessionEnvironment, Request, undefined, Result>,
  request: Request,
): Promise<Result> {
  return runOperation(env, method, operation, checkedRequest(method, request));
}

/** A store in this process answers at once, so that a loop of operations would never let others in. */
async function afterOthers<Result>(running: Promise<Result>): Promise<Result> {
  try {
    return await running;
  } finally {
    await leaveToOthers();
  }
}
