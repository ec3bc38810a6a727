import type { SessionEnvironment } from './session-environment.js';
import { type Operation, traced } from './tracing/trace.js';
import type { TracedOperationName } from './tracing/operation-channels.js';

/** Runs an operation of the service: its end is waited for at shutdown, and its channel tells it to who listens. */
export function runOperation<Request, Result, More = undefined>(
  env: SessionEnvironment,
  name: TracedOperationName,
  operation: Operation<SessionEnvironment, Request, More | undefined, Result>,
  request: Request,
  more?: More,
): Promise<Result> {
  return env.tasks.track(traced(name, operation, env, request, more));
}
