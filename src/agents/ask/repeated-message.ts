import { EventConflictError } from '../../sessions/domain/errors.js';
import { messageIdOf } from '../turn/control-events.js';

/** The message was stored by an earlier request, outside of the view. */
export class RepeatedMessage extends Error {
  constructor(readonly seq: number) {
    super('The message was stored before');
  }
}

/** Where the message of an invocation was stored before, if the error says so. */
export function repeatedAt(error: unknown, invocationId: string): number | undefined {
  if (error instanceof RepeatedMessage) return error.seq;
  return error instanceof EventConflictError && error.eventId === messageIdOf(invocationId) ? error.seq : undefined;
}
