import { InvalidInputError } from './errors.js';

/** What a call asks for; a call without it is a slip that programs without types can make. */
export function asked<Request extends object>(request: Request): Request {
  if (typeof request === 'object' && request !== null) return request;
  throw new InvalidInputError('must be an object, such as { appName, userId, sessionId }', 'request');
}
