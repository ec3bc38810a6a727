import { type CanActivate, type ExecutionContext, ForbiddenException, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { checkAccess } from '../faces/access-checks.js';
import { HttpExchange } from './http-exchange.js';
import { type AccessRequest, SessionAccess } from '../faces/session-access.js';

const NEEDS = Symbol('NEEDS');

type Need = Pick<AccessRequest, 'action' | 'target'>;

/** Says what a route does, and to what. A route that does not say is closed. */
export const Needs = (action: Need['action'], target: Need['target']): MethodDecorator =>
  SetMetadata(NEEDS, { action, target } satisfies Need);

/**
 * Asks {@link SessionAccess} before anything is looked up. What is answered is for who asks, and for now.
 *
 * @example
 * @Controller('apps/:appName/users/:userId/sessions/:sessionId/notes')
 * @UseGuards(AccessGuard)
 * export class NotesController {
 *   @Get()
 *   @Needs('read', 'session')
 *   list(@Param() key: SessionKey) {}
 * }
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly access: SessionAccess,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const need = this.reflector.get<Need | undefined>(NEEDS, context.getHandler());
    if (!need) throw new ForbiddenException('This route does not say what it does: give it @Needs(action, target).');
    const exchange = HttpExchange.of(context);
    exchange.forbidCaching();
    const { request } = exchange;
    const { appName = '', userId, sessionId } = request.params ?? {};
    await checkAccess(this.access, { ...need, appName, userId, sessionId, request });
    return true;
  }
}
