import { SetMetadata, UseInterceptors, applyDecorators } from '@nestjs/common';
import type { SessionFilter } from '../domain/metadata/session-filter.js';
import type { UncheckedWrite, WriteDescription } from '../domain/write/write-description.js';
import { isClientWrite } from '../domain/write/client-writes.js';
import { EndInterceptor } from './audit/end.interceptor.js';

/** What a request does. */
export type SessionAction = 'read' | 'write' | 'delete' | 'list' | 'create';

/** The authenticated user. */
export interface AccessUser {
  /** Never empty. */
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A request for {@link SessionAccess} to decide. */
export interface AccessRequest<User extends AccessUser | undefined = AccessUser> {
  readonly action: SessionAction;
  /** One session, the sessions of a user, or the state of a user or an app. To `read` `sessions` is to search in their events. */
  readonly target: 'session' | 'sessions' | 'userState' | 'appState';
  readonly appName: string;
  /** The owner of the session or state. Missing for a whole app. */
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly user: User;
  /** Describes the write. Missing for reads, and if the route does not describe it. */
  readonly write?: WriteDescription | undefined;
  /** The request of Express or Fastify, including what guards have added. */
  readonly request: unknown;
}

/**
 * What a rule says: `true` allows, `false` refuses, and a filter allows the sessions whose metadata has all of it.
 *
 * @example const answer: AccessAnswer = { labels: { team: 'north' } };
 */
export type AccessAnswer = boolean | SessionFilter;

type Answer = boolean | Promise<boolean>;

/** Only `true` is a yes. A truthy value such as `'false'` is not. */
export async function isYes(answer: unknown): Promise<boolean> {
  return (await answer) === true;
}

/**
 * Decides who may access and write what. `true` allows, and a filter what it matches. A forbidden session gets the same response as a
 * missing one.
 *
 * A request without a user is refused without asking the rule.
 *
 * @example
 * @Injectable()
 * class OwnSessions extends SessionAccess {
 *   allows({ user, userId, target, action }: AccessRequest): boolean {
 *     return target === 'appState' ? action === 'read' : userId === user.id;
 *   }
 * }
 *
 * @example
 * // Support agents see the sessions of their team, of all users.
 * class TeamSessions extends SessionAccess<Agent> {
 *   allows({ user, target }: AccessRequest<Agent>): AccessAnswer {
 *     return target === 'session' || target === 'sessions' ? { labels: { team: user.team } } : false;
 *   }
 * }
 */
export abstract class SessionAccess<User extends AccessUser | undefined = AccessUser> {
  /** Whether the rule is also asked for requests without a user. */
  readonly acceptsAnonymous: boolean = false;

  /**
   * Returns the user of a request. Default: `request.user`. For a stream it is called again at every recheck.
   *
   * @example userOf = async (request: { headers: Headers }) => users.ofToken(request.headers.authorization);
   */
  userOf(request: unknown): unknown {
    return (request as { readonly user?: unknown } | undefined)?.user;
  }

  /**
   * Until when the sign-in of a request that was checked counts, in epoch milliseconds: its streams end then. Default: no end.
   *
   * @example signedInUntil = (request: { readonly user: Payload }) => request.user.exp * 1000;
   */
  signedInUntil(_request: unknown): number | undefined {
    return undefined;
  }

  /**
   * Whether the user may do this. With a filter, lists have only the sessions that it matches, also of what the request asks for, and
   * other sessions are as if they were missing. A write must leave the session among them, and a new session has to begin there.
   * Everything else, such as shared state and sums of usage, is refused. Any other result is an error, and the request gets a 500.
   */
  abstract allows(request: AccessRequest<User>): AccessAnswer | Promise<AccessAnswer>;

  /**
   * Whether the user may write this. By default: text and files by the author `user`, and state without `app:`. Anyone who may
   * write more can impersonate agents and tools, and replace the conversation by a summary.
   */
  allowsWrite({ write }: AccessRequest<User>): Answer {
    return isClientWrite(write);
  }

  /** Whether the user may also write state keys that are `serverOnly`. By default nobody may, whatever else is allowed. */
  allowsServerState(_request: AccessRequest<User>): Answer {
    return false;
  }

  /** Whether the user may also see the instructions and tools of model requests in this session. By default nobody may. */
  allowsPrompts(_request: AccessRequest<User>): Answer {
    return false;
  }
}

/**
 * Allows everything, also without a user. For local development, and behind a gateway that checks access.
 *
 * @example SessionAccessModule.forRoot({ access: OpenAccess });
 */
export class OpenAccess extends SessionAccess<AccessUser | undefined> {
  override readonly acceptsAnonymous = true;

  allows(_request: AccessRequest<AccessUser | undefined>): Answer {
    return true;
  }

  override allowsWrite(_request: AccessRequest<AccessUser | undefined>): Answer {
    return true;
  }
}

/** The access that a route or a field requires. */
export interface AccessRequirement extends Pick<AccessRequest, 'action' | 'target'> {
  /** Describes the write from the request body or the arguments of the field, before validation. */
  readonly writes?: ((input: Readonly<Record<string, unknown>>) => UncheckedWrite) | undefined;
  /** Finds the ids. Default: the parameters of the path, or the arguments of the field. */
  readonly placeOf?: PlaceOf<never> | undefined;
}

/** Finds the ids in the request body, the parameters of the path, and the request itself, such as its user. */
type PlaceOf<Request> = (
  input: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, string | undefined>>,
  request: Request,
) => AccessPlace;

/** The session or state that a request is about. */
export type AccessPlace = Pick<AccessRequest, 'appName' | 'userId' | 'sessionId'>;

/** The metadata key of a handler's {@link AccessRequirement}. */
export const ACCESS_REQUIREMENT = 'nestjs-agent-sessions:access-requirement';

/**
 * Declares the access that a route, query, mutation or subscription requires. A handler without it is closed. A write without
 * `writes` is refused, unless the rule allows any write.
 *
 * @param writes describes the write from the request body or the arguments of the field
 * @param placeOf finds the ids, for routes whose path has none: in the request body, its parameters, or the request
 * @example
 * @Post()
 * @RequireAccess('write', 'session', ({ text }) => ({ event: { author: 'user', content: { parts: [{ text }] } } }))
 * add(@Param() key: SessionKey, @Body() note: Note) {}
 */
export const RequireAccess = <Request = unknown>(
  action: AccessRequirement['action'],
  target: AccessRequirement['target'],
  writes?: AccessRequirement['writes'],
  placeOf?: PlaceOf<Request>,
): MethodDecorator =>
  applyDecorators(
    SetMetadata(ACCESS_REQUIREMENT, { action, target, writes, placeOf } satisfies AccessRequirement),
    UseInterceptors(EndInterceptor),
  );
