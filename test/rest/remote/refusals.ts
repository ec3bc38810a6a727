import { ProblemError } from '../../../src/client/index.js';
import {
  EventConflictError,
  InvalidInputError,
  LimitExceededError,
  SessionExistsError,
  SessionNotFoundError,
  StaleSessionError,
  StoreUnavailableError,
  TurnHeldError,
  TurnLostError,
  TurnRequiredError,
} from '../../../src/index.js';

/** Fields that the caller knows and the response does not repeat. */
interface Asked {
  readonly sessionId?: string | undefined;
  readonly newSessionId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly expectedVersion?: number | undefined;
}

/** Converts a problem back to the error of the service. */
export function refusalOf(error: unknown, asked: Asked): unknown {
  if (!(error instanceof ProblemError)) return error;
  const { code, message, path } = error;
  const said = path === undefined ? message : message.replace(`${path}: `, '');
  switch (code) {
    case 'INVALID_INPUT':
      return new InvalidInputError(said, path);
    case 'LIMIT_EXCEEDED':
      return new LimitExceededError(said, path);
    case 'SESSION_NOT_FOUND':
      return new SessionNotFoundError(asked.sessionId ?? '');
    case 'SESSION_EXISTS':
      return new SessionExistsError(asked.newSessionId ?? asked.sessionId ?? '');
    case 'EVENT_CONFLICT':
      return new EventConflictError(
        conflictingId(message) ?? asked.eventId ?? '',
        Number(/seq (\d+)/.exec(message)?.[1]),
      );
    case 'STALE_SESSION':
      return new StaleSessionError(asked.expectedVersion ?? NaN, error.currentVersion ?? NaN);
    case 'TURN_HELD':
      return new TurnHeldError(asked.sessionId ?? '', error.holder ?? '', error.expiresAt ?? NaN);
    case 'TURN_LOST':
      return new TurnLostError(asked.sessionId ?? '');
    case 'TURN_REQUIRED':
      return new TurnRequiredError(asked.sessionId ?? '');
    case 'STORE_UNAVAILABLE':
      return new StoreUnavailableError(message, error.outcomeUnknown);
    default:
      return error;
  }
}

function conflictingId(message: string): string | undefined {
  const quoted = /^Event (".*") was /.exec(message)?.[1];
  return quoted === undefined ? undefined : (JSON.parse(quoted) as string);
}
