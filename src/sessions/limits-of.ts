import { DEFAULT_LIMITS, type SessionLimits } from '../config/session-settings.js';
import { findEnvironment } from './service-environment.js';

/**
 * The limits of a service. One that replaces it in a test has the default ones.
 *
 * @example const { maxPageBytes } = limitsOf(sessions);
 */
export function limitsOf(sessions: object): SessionLimits {
  return findEnvironment(sessions)?.limits ?? DEFAULT_LIMITS;
}
