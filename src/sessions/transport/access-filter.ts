import { type ExecutionContext, ForbiddenException, createParamDecorator } from '@nestjs/common';
import type { SessionFilter } from '../domain/metadata/session-filter.js';
import { identifyCall } from './identify-call.js';

const TAKES_FILTER = Symbol('TAKES_FILTER');

/** What the access rule has said about each call of a handler. */
const allowed = new WeakMap<object, { readonly filter: SessionFilter | undefined }>();

const CLOSED =
  'Nobody has asked the access rule for a filter: give the handler @UseGuards(AccessGuard) or @UseGuards(GraphqlAccessGuard), and @RequireAccess("list", "sessions").';

/** For a guard: whether the handler has an {@link AccessFilter}. */
export function takesFilter(handler: object): boolean {
  return Reflect.getMetadata(TAKES_FILTER, handler) === true;
}

/** For a guard: keeps what the rule allows this call. */
export function keepFilter(context: ExecutionContext, filter: SessionFilter | undefined): void {
  allowed.set(identifyCall(context), { filter });
}

const Kept = createParamDecorator((_data: unknown, context: ExecutionContext): SessionFilter | undefined => {
  const kept = allowed.get(identifyCall(context));
  if (!kept) throw new ForbiddenException(CLOSED);
  return kept.filter;
});

/**
 * Gives a handler with `@RequireAccess('list', 'sessions')`, or `read`, the filter of the access rule, or `undefined` if the rule returned `true`.
 * Without it, a handler is closed to those for whom the rule returns a filter.
 *
 * @example
 * @Get('apps/:appName/open-sessions')
 * @UseGuards(AccessGuard)
 * @RequireAccess('list', 'sessions')
 * list(@Param('appName') appName: string, @AccessFilter() within: SessionFilter | undefined): Promise<SessionPage> {
 *   return this.sessions.listSessions({ appName, filter: { status: 'open' }, within });
 * }
 */
export function AccessFilter(): ParameterDecorator {
  return (target, method, index) => {
    Kept()(target, method, index);
    const handler: unknown = method === undefined ? undefined : Reflect.get(target, method);
    if (typeof handler === 'function') Reflect.defineMetadata(TAKES_FILTER, true, handler);
  };
}
