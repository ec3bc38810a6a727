/** The codes are part of the contract: programs may compare them, and they never change. */
export type SessionsErrorCode =
  | 'INVALID_INPUT'
  | 'SESSION_NOT_FOUND'
  | 'SESSION_EXISTS'
  | 'EVENT_CONFLICT'
  | 'STALE_SESSION'
  | 'UNSAVED_STATE'
  | 'LIMIT_EXCEEDED'
  | 'LEASE_LOST'
  | 'TURN_HELD'
  | 'TURN_LOST'
  | 'TURN_REQUIRED'
  | 'INSTRUCTION_VALUE_MISSING'
  | 'SUMMARY_NOT_FOUND'
  | 'SUMMARY_FAILED'
  | 'AGENT_NOT_FOUND'
  | 'AGENTS_CLOSING'
  | 'AGENT_FAILED'
  | 'RUN_LIMIT_REACHED'
  | 'APPROVAL_NOT_FOUND'
  | 'APPROVAL_ANSWERED'
  | 'APPROVAL_CHANGED'
  | 'APPROVAL_WITHDRAWN'
  | 'APPROVAL_EXPIRED'
  | 'COMPONENT_NOT_FOUND'
  | 'COMPONENT_CONFLICT'
  | 'BUDGET_EXCEEDED'
  | 'QUOTA_EXCEEDED'
  | 'SESSION_HELD'
  | 'USER_BEING_ERASED'
  | 'TRANSFER_FILE_INVALID'
  | 'TRANSFER_CONFLICT'
  | 'ISSUER_UNAVAILABLE'
  | 'UNSUPPORTED_BY_STORE'
  | 'ENCRYPTION_KEY_WRONG'
  | 'ENCRYPTION_KEY_UNKNOWN'
  | 'ENCRYPTION_VERSION_UNKNOWN'
  | 'PLAIN_TEXT_REFUSED'
  | 'STORE_UNAVAILABLE';

/**
 * The base of all errors of the service. Messages say what to do. They contain ids and limits, never event
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

  /** The message for remote callers. */
  get publicMessage(): string {
    return this.message;
  }

  /** Further fields for remote callers. */
  get publicDetails(): Readonly<Record<string, unknown>> {
    return {};
  }

  /** Whether the log of the server has it already. */
  get isLogged(): boolean {
    return false;
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
 * There is no such session: it was never created, was deleted, expired, or was replaced by a new one of the same id.
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
 * The session holds another event under the same id, or only some events of a batch.
 *
 * @example if (error instanceof EventConflictError) logger.warn(`Two events want to be ${error.eventId}`);
 */
export class EventConflictError extends SessionsError {
  readonly code = 'EVENT_CONFLICT';
  readonly status = 409;

  constructor(
    readonly eventId: string,
    readonly seq: number,
    difference: 'with other content' | 'without other events of this batch' = 'with other content',
  ) {
    super(
      `Event ${JSON.stringify(eventId)} was appended before ${difference} (seq ${seq}). Use a new id for a new event.`,
    );
  }
}

/**
 * Another writer appended after the version that the caller expected.
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
 * `session.state` has changes that an append through the session does not store. Passed to `onUnsavedState`; the append
 * fails only if that handler throws.
 *
 * @example
 * SessionsModule.forRoot({ provider: 'memory', onUnsavedState: (error) => { throw error; } });
 */
export class UnsavedStateError extends SessionsError {
  readonly code = 'UNSAVED_STATE';
  readonly status = 409;

  constructor(
    readonly sessionId: string,
    /** The keys that were set or removed, or whose values were mutated. */
    readonly keys: readonly string[],
  ) {
    super(
      `The state of session ${JSON.stringify(sessionId)} has changes that an append does not save (${shownKeys(keys)}). ` +
        'Call updateSession(session), or put them into actions.stateDelta of the event.',
    );
  }
}

function shownKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, 5).map((key) => JSON.stringify(key));
  return [...shown, ...(keys.length > 5 ? [`${keys.length - 5} more`] : [])].join(', ');
}

/**
 * The input exceeds a configured limit.
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
 * A lease ended before its work did: it could not be renewed in time, so another instance may hold it now.
 * @example if (error instanceof LeaseLostError) return; // another instance does the work
 */
export class LeaseLostError extends SessionsError {
  readonly code = 'LEASE_LOST';
  readonly status = 409;

  constructor(readonly leaseName: string) {
    super(`The lease ${JSON.stringify(leaseName)} was lost. Stop what needs it, and begin again with a new one.`);
  }
}

/**
 * Another request holds the turn of the session.
 * @example if (error instanceof TurnHeldError) logger.log(`${error.holder} writes until ${new Date(error.expiresAt)}`);
 */
export class TurnHeldError extends SessionsError {
  readonly code = 'TURN_HELD';
  readonly status = 409;

  constructor(
    readonly sessionId: string,
    readonly holder: string,
    /** When the turn is over unless it is renewed, by the store's clock. */
    readonly expiresAt: number,
  ) {
    super(
      `The turn of session ${JSON.stringify(sessionId)} is held by ${JSON.stringify(holder)} until ` +
        `${new Date(expiresAt).toISOString()}. Try again later.`,
    );
  }
}

/**
 * The turn is over: it expired, was ended, or belongs to a session that is gone. Nothing was written under it.
 *
 * @example if (error instanceof TurnLostError) turn = await sessions.beginTurn({ appName, userId, sessionId });
 */
export class TurnLostError extends SessionsError {
  readonly code = 'TURN_LOST';
  readonly status = 409;

  constructor(readonly sessionId: string) {
    super(
      `The turn of session ${JSON.stringify(sessionId)} is over, so nothing was written. Begin a new turn, and read ` +
        'the session again.',
    );
  }
}

/**
 * The session was created with `turnsOnly`, and the write names no turn.
 *
 * @example if (error instanceof TurnRequiredError) await sessions.appendEvent({ session, event, turn });
 */
export class TurnRequiredError extends SessionsError {
  readonly code = 'TURN_REQUIRED';
  readonly status = 409;

  constructor(readonly sessionId: string) {
    super(`Session ${JSON.stringify(sessionId)} is written in turns only. Begin a turn, and give it with the write.`);
  }
}

/**
 * An instruction has a placeholder for which the state, or the artifacts, have no value.
 *
 * @example if (error instanceof MissingInstructionValueError) logger.warn(`${error.key} is not set yet`);
 */
export class MissingInstructionValueError extends SessionsError {
  readonly code = 'INSTRUCTION_VALUE_MISSING';
  readonly status = 409;

  constructor(
    /** The name in the placeholder: `user:name`, `artifact.report.txt`. */
    readonly key: string,
  ) {
    const shown = key.length > LONGEST_SHOWN_KEY ? `${key.slice(0, LONGEST_SHOWN_KEY)}…` : key;
    super(
      `The instruction needs ${JSON.stringify(shown)}, which has no value. Set it before, or write {${shown}?} if it may be missing.`,
    );
  }
}

const LONGEST_SHOWN_KEY = 80;

/** Further details of a failed call to a store. */
export interface StoreUnavailableOptions extends ErrorOptions {
  /** Replaces the reason for remote callers, if the reason names a server. */
  readonly publicReason?: string;
  /** What to do. Default: to retry. */
  readonly advice?: string | undefined;
}

/**
 * A call to the store failed. With `outcomeUnknown` the write may have happened: retry with the same event id,
 * which applies the event at most once.
 *
 * @example
 * if (error instanceof StoreUnavailableError && error.outcomeUnknown) {
 *   await sessions.appendEvent({ session, event: { ...event, id: error.eventId } });
 * }
 */
export class StoreUnavailableError extends SessionsError {
  readonly code = 'STORE_UNAVAILABLE';
  readonly status = 503;
  /** The id of the event of a failed append, given or generated. Retry with it. Missing for a batch. */
  eventId?: string;
  /** The ids of all events of a failed append, in their order. */
  eventIds?: readonly string[];

  readonly #publicReason: string;
  readonly #advice: string | undefined;

  /** @param reason what went wrong, for operators of the store */
  constructor(
    readonly reason: string,
    readonly outcomeUnknown: boolean,
    { publicReason = reason, advice, ...options }: StoreUnavailableOptions = {},
  ) {
    super(`${reason} ${advice ?? adviceFor(outcomeUnknown)}`, options);
    this.#publicReason = publicReason;
    this.#advice = advice;
  }

  override get publicMessage(): string {
    return `${this.#publicReason} ${this.#advice ?? adviceFor(this.outcomeUnknown)}`;
  }

  /** Says which events were to be appended. */
  setEventIds(ids: readonly string[]): void {
    this.eventIds = ids;
    const [first] = ids;
    if (first !== undefined && ids.length === 1) this.eventId = first;
  }

  /** A copy of this error with another `outcomeUnknown`. */
  withOutcome(outcomeUnknown: boolean): StoreUnavailableError {
    const [publicReason, advice] = [this.#publicReason, outcomeUnknown ? undefined : this.#advice];
    return new StoreUnavailableError(this.reason, outcomeUnknown, { publicReason, advice, cause: this });
  }
}

function adviceFor(outcomeUnknown: boolean): string {
  return outcomeUnknown ? 'The outcome is unknown: retry with the same event id.' : 'Nothing was written: retry later.';
}
