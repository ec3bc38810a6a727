import { SessionExistsError } from './domain/errors/errors.js';
import type { Session } from './domain/session/session.js';
import type { CreateSessionRequest } from './operations/create-session.js';
import type { SessionService } from './session.service.js';

/**
 * Creates a session; `undefined` if there is one, which is not read.
 *
 * @example const session = (await createUnlessThere(sessions, key)) ?? (await sessions.getSession({ ...key, config }));
 */
export async function createUnlessThere(
  sessions: Pick<SessionService, 'createSession'>,
  request: CreateSessionRequest,
): Promise<Session | undefined> {
  try {
    return await sessions.createSession(request);
  } catch (error) {
    if (error instanceof SessionExistsError) return undefined;
    throw error;
  }
}
