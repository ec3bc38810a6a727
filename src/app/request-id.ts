import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** As gateways make them: UUIDs, trace ids. Anything else might be about a person, or a secret, and stays out of the log. */
const MACHINE_MADE = /^[0-9a-f][0-9a-f-]{14,62}[0-9a-f]$/i;

/** The id that whoever is in front of the app gave the request, else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && MACHINE_MADE.test(given) ? given : randomUUID();
}
