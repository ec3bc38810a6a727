import { InvalidInputError, LimitExceededError } from './errors.js';

/**
 * Runs checks of a value that is part of a larger input, and puts the value's place into their errors: `$.actions`
 * becomes `$.events[3].actions`.
 */
export function underPath<Result>(path: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (path === '$') throw error;
    if (error instanceof InvalidInputError) throw new InvalidInputError(...underPlace(error, path));
    if (error instanceof LimitExceededError) throw new LimitExceededError(...underPlace(error, path));
    throw error;
  }
}

function underPlace({ message, path = '' }: InvalidInputError | LimitExceededError, place: string): [string, string] {
  const reason = path === '' ? message : message.slice(`${path}: `.length);
  return [reason, place + path.replace(/^\$/, '')];
}
