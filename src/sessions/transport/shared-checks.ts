import { ConfigurationError } from '../../config/configuration-error.js';
import { findEnvironment } from '../service-environment.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { AccessChecks } from './access-checks.js';

const SEVERAL = 'Several apps of this process have an access rule for these sessions: give `access`.';

/** Of each service, the checks of the apps that have it. */
const shared = new WeakMap<SessionEnvironment, Set<AccessChecks>>();

/** Lets {@link checksFor} find the rule of an app by its services. */
export function shareChecks(checks: AccessChecks): void {
  for (const service of checks.services) shared.set(service, (shared.get(service) ?? new Set()).add(checks));
}

export function unshareChecks(checks: AccessChecks): void {
  for (const service of checks.services) shared.get(service)?.delete(checks);
}

/**
 * The checks of the app that has this service, for parts that Nest does not make. Undefined if no `SessionAccessModule` has a rule for
 * it.
 *
 * @example await checksFor(sessions)?.check({ action: 'read', target: 'session', ...key, request });
 */
export function checksFor(sessions: unknown): AccessChecks | undefined {
  const environment = findEnvironment(sessions);
  const [checks, ...others] = (environment && shared.get(environment)) ?? [];
  if (others.length > 0) throw new ConfigurationError([SEVERAL]);
  return checks;
}
