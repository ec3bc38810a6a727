/** The codes are part of the contract: programs may compare them, and they never change. */
export type SessionsErrorCode =
  | 'INVALID_INPUT'
  | 'SESSION_NOT_FOUND'
  | 'SESSION_EXISTS'
  | 'EVENT_CONFLICT'
  | 'STALE_SESSION'
  | 'LIMIT_EXCEEDED'
  | 'LEASE_LOST'
  | 'SUMMARY_NOT_FOUND'
  | 'SUMMARY_FAILED'
  | 'STORE_UNAVAILABLE';

/**
 * What every error of an operation is. Messages say what to do; they hold ids and limits, never event
 * content, passwords or connection strings.
 *
 * @example
 * try {
 *   await sessions.appendEvent({ session, event });
 * } catch (error) {
 *   if (error instanceof SessionsError && error.code === 'STALE_SESSION') await reload();
 *   else throw error;
 * }
 */
export abstract class SessionsError extends Error {
  abstract readonly code: SessionsErrorCode;
  /** The HTTP status that fits this error. */
  abstract readonly status: number;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  /** What callers from outside are told. */
  get publicMessage(): string {
    return this.message;
  }
}

/**
 * The input breaks a rule; `path` says where (`$.actions.stateDelta.count`).
 *
 * @example if (error instanceof InvalidInputError) return reply.status(400).send({ field: error.path });
 */
export class InvalidInputError extends SessionsError {
  readonly code = 'INVALID_INPUT';
  readonly status = 400;

  constructor(
    message: string,
    readonly path?: string,
  ) {
    super(path === undefined ? message : `${path}: ${message}`);
  }
}

/**
 * There is no such session: it never was, was deleted, expired, or was replaced by a new one of the same id.
 *
 * @example if (error instanceof SessionNotFoundError) await sessions.createSession({ appName, userId, sessionId: error.sessionId });
 */
export class SessionNotFoundError extends SessionsError {
  readonly code = 'SESSION_NOT_FOUND';
  readonly status = 404;

  constructor(readonly sessionId: string) {
    super(`Session ${JSON.stringify(sessionId)} was not found; it may have expired or been deleted. Create it first.`);
  }
}

/**
 * A live session has this id already.
 *
 * @example if (error instanceof SessionExistsError) return sessions.getSession({ appName, userId, sessionId: error.sessionId });
 */
export class SessionExistsError extends SessionsError {
  readonly code = 'SESSION_EXISTS';
  readonly status = 409;

  constructor(readonly sessionId: string) {
    super(`Session ${JSON.stringify(sessionId)} exists already. Read that one, or leave the id out to get a new one.`);
  }
}

/**
 * The session holds another event under the same id.
 *
 * @example if (error instanceof EventConflictError) logger.warn(`Two events want to be ${error.eventId}`);
 */
export class EventConflictError extends SessionsError {
  readonly code = 'EVENT_CONFLICT';
  readonly status = 409;

  constructor(
    readonly eventId: string,
    readonly seq: number,
  ) {
    super(
      `Event ${JSON.stringify(eventId)} was appended before with other content (seq ${seq}). Use a new id for a new event.`,
    );
  }
}

/**
 * Somebody else appended after the version that the caller expected.
 *
 * @example if (error instanceof StaleSessionError) session = await sessions.getSession(key); // at error.currentVersion
 */
export class StaleSessionError extends SessionsError {
  readonly code = 'STALE_SESSION';
  readonly status = 409;

  constructor(
    readonly expectedVersion: number,
    readonly currentVersion: number,
  ) {
    super(`The session is at version ${currentVersion}, not at ${expectedVersion}. Read it again, and decide again.`);
  }
}

/**
 * More than the configured limit allows.
 *
 * @example if (error instanceof LimitExceededError) await appendInPieces(event);
 */
export class LimitExceededError extends SessionsError {
  readonly code = 'LIMIT_EXCEEDED';
  readonly status = 413;

  constructor(
    message: string,
    readonly path?: string,
  ) {
    super(path === undefined ? message : `${path}: ${message}`);
  }
}

/**
 * A lease is over before its work is: it could not be renewed in time, so somebody else may hold it now.
 *
 * @example if (error instanceof LeaseLostError) return; // somebody else is at it
 */
export class LeaseLostError extends SessionsError {
  readonly code = 'LEASE_LOST';
  readonly status = 409;

  constructor(readonly leaseName: string) {
    super(`The lease ${JSON.stringify(leaseName)} was lost. Stop what needs it, and begin again with a new one.`);
  }
}

/**
 * The store did not answer as it should. With `outcomeUnknown` the write may have happened: send it again
 * with the same event id, which applies it at most once.
 *
 * @example
 * if (error instanceof StoreUnavailableError && error.outcomeUnknown) {
 *   await sessions.appendEvent({ session, event: { ...event, id: error.eventId } });
 * }
 */
export class StoreUnavailableError extends SessionsError {
  readonly code = 'STORE_UNAVAILABLE';
  readonly status = 503;
  /** The id of the event that was being appended, also where it was generated: retry with it. */
  eventId?: string;

  constructor(
    message: string,
    readonly outcomeUnknown: boolean,
    options?: ErrorOptions,
  ) {
    super(
      outcomeUnknown
        ? `${message} The outcome is unknown: retry with the same event id.`
        : `${message} Nothing was written: retry later.`,
      options,
    );
  }
}
