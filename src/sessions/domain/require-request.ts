import { InvalidInputError } from './errors.js';

/** Returns the request; refuses a call without one, which plain JavaScript allows. */
export function requireRequest<Request extends object>(request: Request): Request {
  if (typeof request === 'object' && request !== null) return request;
  throw new InvalidInputError('must be an object, such as { appName, userId, sessionId }', 'request');
}
