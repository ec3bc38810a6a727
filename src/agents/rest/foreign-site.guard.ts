import type { IncomingMessage } from 'node:http';
import { type CanActivate, type ExecutionContext, ForbiddenException, Inject, Injectable } from '@nestjs/common';
import { FOREIGN_PAGE, isForeignPage, isKnownToApp } from '../../sessions/transport/cross-site.js';

/** The origins that may call the routes of ADK, besides the server's own. */
export const ADK_ORIGINS = Symbol('ADK_ORIGINS');

interface FrameworkRequest extends IncomingMessage {
  /** Node's request, on Fastify. */
  readonly raw?: IncomingMessage;
}

/** Refuses pages of other sites. ADK's web UI sends writes without a body, which need no content type and so no preflight. */
@Injectable()
export class ForeignSiteGuard implements CanActivate {
  constructor(@Inject(ADK_ORIGINS) private readonly origins: readonly string[]) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FrameworkRequest>();
    if (isKnownToApp(request.raw ?? request) || !isForeignPage(request.headers, this.origins)) return true;
    throw new ForbiddenException(FOREIGN_PAGE);
  }
}
