/** What a request is about to do. */
export type SessionAction = 'read' | 'write' | 'delete' | 'list' | 'create';

/** Whom and what a request is about, for {@link SessionAccess} to decide. */
export interface AccessRequest {
  readonly action: SessionAction;
  /** One session, the sessions of a user, the state of a user or of a whole app. */
  readonly target: 'session' | 'sessions' | 'userState' | 'appState';
  readonly appName: string;
  /** Missing where it is about a whole app. */
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The request of Express or Fastify, with what guards of the app have put there. */
  readonly request: unknown;
}

/**
 * Decides who may touch what. A session that somebody may not touch answers exactly as one that is not there.
 *
 * @example
 * @Injectable()
 * class OwnSessions extends SessionAccess {
 *   allows({ userId, request }: AccessRequest): boolean {
 *     return userId === (request as { user?: { id: string } }).user?.id;
 *   }
 * }
 */
export abstract class SessionAccess {
  abstract allows(request: AccessRequest): boolean | Promise<boolean>;
}

/**
 * Lets everybody do everything: for one's own machine, and behind a gate that decides already.
 *
 * @example SessionsRestModule.forRoot({ access: OpenAccess });
 */
export class OpenAccess extends SessionAccess {
  allows(): boolean {
    return true;
  }
}
