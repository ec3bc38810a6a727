import type { IncomingMessage } from 'node:http';
import {
  type CanActivate,
  type ExecutionContext,
  applyDecorators,
  createParamDecorator,
  ForbiddenException,
  Injectable,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Resolver } from '@nestjs/graphql';
import { type GraphQLResolveInfo, OperationTypeNode } from 'graphql';
import { AccessChecks } from '../transport/access-checks.js';
import { keepFilter, takesFilter } from '../transport/access-filter.js';
import { identifyCall } from '../transport/identify-call.js';
import { type AccessRequirement, ACCESS_REQUIREMENT } from '../transport/session-access.js';
import { GraphqlProblemFilter } from './graphql-errors.js';
import { ResponseBudget } from './limits/response-budget.js';

const { QUERY, SUBSCRIPTION } = OperationTypeNode;

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
    const [, input, { req }, info] =
      context.getArgs<[unknown, KeyArguments, { readonly req?: unknown }, GraphQLResolveInfo]>();
    const { path, operation } = info;
    // With `fieldResolverEnhancers`, guards also run for fields of types. Their object has been checked already.
    if (path.prev !== undefined) return true;
    const need = this.reflector.get<AccessRequirement | undefined>(ACCESS_REQUIREMENT, context.getHandler());
    if (!need)
      throw new ForbiddenException('This field does not say what it does: give it @RequireAccess(action, target).');
    const { appName = '', userId, sessionId } = input;
    const request = findHttpRequest({ req });
    // What is written is written, whoever waits for it.
    if (operation.operation === QUERY) ResponseBudget.of(info).readFor(request ?? {});
    const ids = { userId: userId ?? undefined, sessionId: sessionId ?? undefined };
    const handler = context.getHandler();
    const place = { appName, ...ids, request, input, operation: handler.name };
    const call = { of: identifyCall(context), isStream: operation.operation === SUBSCRIPTION };
    keepFilter(context, await this.access.checkRequirement(need, place, takesFilter(handler), call));
    return true;
  }
}

/** A resolver whose queries, mutations and subscriptions are closed unless they have `@RequireAccess`. */
export const SessionFields = (type?: () => new () => object): ClassDecorator =>
  applyDecorators(type ? Resolver(type) : Resolver(), UseGuards(GraphqlAccessGuard), UseFilters(GraphqlProblemFilter));

/**
 * The request that opened a connection of graphql-ws, as `SessionAccess` gets it for a subscription. Browsers cannot set its
 * headers, so they send `connectionParams` instead.
 */
export interface SubscriptionRequest extends IncomingMessage {
  connectionParams?: Readonly<Record<string, unknown>> | undefined;
}

/** The context of a graphql-ws connection. */
interface Connection {
  readonly connectionParams?: Readonly<Record<string, unknown>>;
  readonly extra: { readonly request: SubscriptionRequest };
}

/** Returns the HTTP request, also for a subscription. */
export function findHttpRequest(context: { readonly req?: unknown }): unknown {
  const { req = context } = context;
  if (!isConnection(req)) return req;
  const { request } = req.extra;
  request.connectionParams = req.connectionParams;
  return request;
}

function isConnection(req: unknown): req is Connection {
  const { extra } = req as { extra?: { request?: unknown } };
  return typeof extra?.request === 'object' && extra.request !== null;
}

/** Injects the request into a resolver. */
export const CurrentRequest = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  findHttpRequest(context.getArgByIndex<{ req?: unknown }>(2)),
);
