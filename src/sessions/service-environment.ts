import { InvalidInputError } from './domain/errors/errors.js';
import type { SessionEnvironment } from './session-environment.js';

/** Kept here, not in the services: what works below their operations is no part of what they offer. */
const environments = new WeakMap<object, SessionEnvironment>();

export function keepEnvironment(sessions: object, environment: SessionEnvironment): SessionEnvironment {
  environments.set(sessions, environment);
  return environment;
}

/** The store and the settings of a service, for parts that work on the same sessions. */
export function environmentBehind(sessions: object): SessionEnvironment {
  const environment = findEnvironment(sessions);
  if (environment) return environment;
  throw new InvalidInputError('must be a SessionService, such as new InMemorySessionService()', 'sessions');
}

/** Undefined if it is no service, such as a replacement in a test. */
export function findEnvironment(sessions: unknown): SessionEnvironment | undefined {
  return typeof sessions === 'object' && sessions !== null ? environments.get(sessions) : undefined;
}
