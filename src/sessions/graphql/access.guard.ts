import { type CanActivate, type ExecutionContext, ForbiddenException, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AccessChecks } from '../transport/access-checks.js';
import { ACCESS_REQUIREMENT, type AccessRequirement } from '../transport/require-access.js';
import { requestOf } from './current-request.js';

/** The arguments that identify a session or state. */
interface KeyArguments extends Readonly<Record<string, unknown>> {
  readonly appName?: string;
  readonly userId?: string | null;
  readonly sessionId?: string | null;
}

/**
 * Asks the access rule before any lookup, by the `@RequireAccess` of a query, mutation or subscription. A field without it is
 * closed. The ids are the arguments `appName`, `userId` and `sessionId`.
 *
 * @example
 * @Resolver()
 * @UseGuards(GraphqlAccessGuard)
 * export class NotesResolver {
 *   @Query(() => [Note])
 *   @RequireAccess('read', 'session')
 *   notes(@Args() key: SessionArguments) {}
 * }
 */
@Injectable()
export class GraphqlAccessGuard implements CanActivate {
  constructor(
    private readonly access: AccessChecks,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [, input, { req }, { path }] =
      context.getArgs<
        [unknown, KeyArguments, { readonly req?: unknown }, { readonly path: { readonly prev?: unknown } }]
      >();
    // With `fieldResolverEnhancers`, guards also run for fields of types. Their object has been checked already.
    if (path.prev !== undefined) return true;
    const need = this.reflector.get<AccessRequirement | undefined>(ACCESS_REQUIREMENT, context.getHandler());
    if (!need)
      throw new ForbiddenException('This field does not say what it does: give it @RequireAccess(action, target).');
    const { appName = '', userId, sessionId } = input;
    const request = requestOf({ req });
    const ids = { userId: userId ?? undefined, sessionId: sessionId ?? undefined };
    await this.access.checkRequirement(need, { appName, ...ids, request, input });
    return true;
  }
}
