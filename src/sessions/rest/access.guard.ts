import { type CanActivate, type ExecutionContext, ForbiddenException, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AccessChecks } from '../transport/access-checks.js';
import { keepFilter, takesFilter } from '../transport/access-filter.js';
import { identifyCall } from '../transport/identify-call.js';
import { type AccessRequirement, ACCESS_REQUIREMENT } from '../transport/session-access.js';
import { ANSWER } from './answer.interceptor.js';
import { HttpExchange } from './http-exchange.js';

/**
 * Asks the access rule before any lookup, by the `@RequireAccess` of the route. A route without it is closed. Also sets the
 * security headers.
 *
 * @example
 * @Controller('apps/:appName/users/:userId/sessions/:sessionId/notes')
 * @UseGuards(AccessGuard)
 * export class NotesController {
 *   @Get()
 *   @RequireAccess('read', 'session')
 *   list(@Param() key: SessionKey) {}
 * }
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly access: AccessChecks,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const need = this.reflector.get<AccessRequirement | undefined>(ACCESS_REQUIREMENT, context.getHandler());
    if (!need)
      throw new ForbiddenException('This route does not say what it does: give it @RequireAccess(action, target).');
    const exchange = HttpExchange.of(context);
    exchange.setSecurityHeaders();
    const { request } = exchange;
    const input = (request.body ?? {}) as Record<string, unknown>;
    const { params = {} } = request;
    const { appName = '', userId, sessionId } = need.placeOf?.(input, params, request as never) ?? params;
    const handler = context.getHandler();
    const place = { appName, userId, sessionId, request, input, operation: handler.name };
    const isStream = this.reflector.get<string | undefined>(ANSWER, handler) === 'stream';
    const call = { of: identifyCall(context), response: exchange.nodeResponse, isStream };
    keepFilter(context, await this.access.checkRequirement(need, place, takesFilter(handler), call));
    return true;
  }
}
