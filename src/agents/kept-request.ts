import { tempOf } from './queue-place.js';
import type { CheckedRun } from './run-request.js';

/** A request without what its message brings. */
export type KeptRequest = Omit<CheckedRun, 'message' | 'stateDelta' | 'customMetadata' | 'state'>;

/** Leaves out what a message brings, which may be large. */
export function withoutMessage(request: CheckedRun): KeptRequest {
  const { message: _message, stateDelta: _delta, customMetadata: _metadata, state: _state, ...kept } = request;
  return kept;
}

/** What the process keeps of a message that waits in the log. */
export function keptOf(request: CheckedRun): CheckedRun {
  const stateDelta = tempOf(request.stateDelta);
  return { ...withoutMessage(request), message: {}, stateDelta, customMetadata: undefined, state: undefined };
}
