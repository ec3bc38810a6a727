import { isTurnOfOthers, leaveToOthers } from './domain/event-loop-turn.js';
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
  const running = traced(name, operation, env, request, more);
  return env.tasks.track(isTurnOfOthers() ? afterOthers(running) : running);
}

/** A store in this process answers at once, so that a loop of operations would never let others in. */
async function afterOthers<Result>(running: Promise<Result>): Promise<Result> {
  try {
    return await running;
  } finally {
    await leaveToOthers();
  }
}
