import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CanActivate, type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import { findHttpRequest } from '../sessions/graphql/access.guard.js';
import { RequestLimit } from './request-limit.js';

/** `res` is set by Express. The request of a WebSocket has none. */
interface GraphqlRequest extends IncomingMessage {
  readonly res?: ServerResponse;
}

/** Counts each root field of GraphQL as a request. The first one was counted on arrival. */
@Injectable()
export class FieldLimitGuard implements CanActivate {
  constructor(private readonly limit: RequestLimit) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = findHttpRequest(context.getArgByIndex<{ req?: unknown }>(2)) as GraphqlRequest;
    const refusal = await this.limit.spend(request);
    if (refusal === undefined) return true;
    request.res?.setHeader('Retry-After', String(refusal.retryAfterSeconds));
    throw new HttpException(refusal.detail, refusal.status);
  }
}
