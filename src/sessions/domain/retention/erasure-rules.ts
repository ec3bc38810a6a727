import { SessionsError } from '../errors/errors.js';

/** When an erasure that is not over yet began, by the store's clock. */
export interface RunningErasure {
  readonly since: number;
}

/**
 * Whether an erasure may have asked for holds before this one was stored. One that began later has seen it: it notes that it runs before it
 * asks.
 */
export function mayHaveMissed({ since }: RunningErasure, holdStoredAt: number): boolean {
  return since <= holdStoredAt;
}

/**
 * The user is being erased, by a call that may not have seen the hold. So nobody may rely on it: look what is left when that call is over.
 *
 * @example if (error instanceof UserBeingErasedError) await askLegal(error.userId);
 */
export class UserBeingErasedError extends SessionsError {
  readonly code = 'USER_BEING_ERASED';
  readonly status = 409;

  /** @param userId missing where it is one of all users, whose ids are not noted */
  constructor(readonly userId?: string) {
    super(
      `${userId === undefined ? 'A user' : `The user ${JSON.stringify(userId)}`} is being erased. The hold was stored, but came too late to be sure ` +
        'that it keeps what the user has. Repeat the request when the erasure is over, and look what is left.',
    );
  }
}
