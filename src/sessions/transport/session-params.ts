import {
  type ExecutionContext,
  ForbiddenException,
  Inject,
  Injectable,
  type PipeTransform,
  createParamDecorator,
} from '@nestjs/common';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { Session } from '../domain/session/session.js';
import type { GetSessionConfig } from '../domain/view/view-config.js';
import { SessionService } from '../session.service.js';
import { isChecked } from './checked-sessions.js';

/** Which session a parameter is about. */
export interface CurrentSessionOptions<Request = never> {
  /**
   * Names the session of a request, such as one of the signed-in user. Default: the parameters `appName`, `userId` and
   * `sessionId` of the route, or the arguments of a GraphQL field, if `AccessGuard` or `GraphqlAccessGuard` allowed it.
   */
  readonly of?: ((request: Request) => SessionKey | Promise<SessionKey>) | undefined;
  /** Narrows the view, as for `getSession`. */
  readonly config?: GetSessionConfig | undefined;
}

type Pick = (session: Session) => unknown;

/** What a parameter asks for, before the session is loaded. */
interface Asked {
  readonly request: object;
  readonly key: SessionKey | Promise<SessionKey>;
  readonly config: GetSessionConfig | undefined;
  readonly pick: Pick;
}

const CLOSED =
  'Nobody has checked the access to this session: give the handler @UseGuards(AccessGuard) and @RequireAccess(action, "session"), or the parameter an option `of` that names a session of the user.';

/** The parameters of a method, for callers that have a session already. */
const PARAMETERS = Symbol('SESSION_PARAMETERS');

/** What each request has loaded, by the key. */
const loaded = new WeakMap<object, Map<string, Promise<Session | undefined>>>();

/** Loads the session of a parameter, once for each request. */
@Injectable()
class LoadSession implements PipeTransform<Asked, Promise<unknown>> {
  constructor(@Inject(SessionService) private readonly sessions: SessionService) {}

  async transform({ request, key, config, pick }: Asked): Promise<unknown> {
    const { appName, userId, sessionId } = await key;
    const known = loaded.get(request) ?? new Map<string, Promise<Session | undefined>>();
    loaded.set(request, known);
    const name = JSON.stringify([appName, userId, sessionId, config]);
    const loading = known.get(name) ?? this.sessions.getSession({ appName, userId, sessionId, config });
    known.set(name, loading);
    const session = await loading;
    if (!session) throw new SessionNotFoundError(sessionId);
    return pick(session);
  }
}

const Loaded = createParamDecorator(
  (
    { options, pick }: { readonly options: CurrentSessionOptions; readonly pick: Pick },
    context: ExecutionContext,
  ): Asked => {
    const { request, ids } = placeIn(context);
    const { of, config } = options;
    if (!of && !isChecked(request, ids)) throw new ForbiddenException(CLOSED);
    return { request, key: of ? of(request as never) : ids, config, pick };
  },
);

function placeIn(context: ExecutionContext): { readonly request: object; readonly ids: SessionKey } {
  if (context.getType<string>() !== 'graphql') {
    const request = context.switchToHttp().getRequest<{ readonly params?: unknown }>();
    const { appName, userId, sessionId } = (request.params ?? {}) as SessionKey;
    return { request, ids: { appName, userId, sessionId } };
  }
  const { req } = context.getArgByIndex<{ readonly req: object }>(2);
  const { appName, userId, sessionId } = context.getArgByIndex<SessionKey>(1);
  return { request: req, ids: { appName, userId, sessionId } };
}

function sessionParameter(options: CurrentSessionOptions, pick: Pick): ParameterDecorator {
  return (target, method, index) => {
    Loaded({ options, pick }, LoadSession)(target, method, index);
    const known = sessionParametersOf(target, method);
    Reflect.defineMetadata(PARAMETERS, new Map([...known, [index, pick]]), target, method ?? '');
  };
}

/** The parameters of a method that a session gives, by their positions. */
export function sessionParametersOf(target: object, method: string | symbol = ''): ReadonlyMap<number, Pick> {
  return (Reflect.getMetadata(PARAMETERS, target, method) ?? new Map()) as ReadonlyMap<number, Pick>;
}

/**
 * Gives a handler the session that it is about: in the `run` of an `@AgentHandler`, in a controller, and in a resolver. It is
 * loaded once for each request. A missing one is a `SessionNotFoundError`.
 *
 * @example
 * @Get('apps/:appName/users/:userId/sessions/:sessionId/topic')
 * @UseGuards(AccessGuard)
 * @RequireAccess('read', 'session')
 * topic(@CurrentSession() session: Session): string {
 *   return session.state.get('topic', 'none');
 * }
 */
export function CurrentSession<Request = never>(options: CurrentSessionOptions<Request> = {}): ParameterDecorator {
  return sessionParameter(options, (session) => session);
}

/**
 * Gives a handler the state of its session, or the value of one key: see {@link CurrentSession}.
 *
 * @example
 * async *run(context: AgentContext, @SessionState() state: State, @SessionState('user:name') name = 'you') {}
 */
export function SessionState<Request = never>(
  key?: string,
  options: CurrentSessionOptions<Request> = {},
): ParameterDecorator {
  return sessionParameter(options, ({ state }) => (key === undefined ? state : state.get(key)));
}
