import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import { askerOf } from '../sessions/graphql/asker.js';

interface RequestAndResponse {
  readonly req: Record<string, unknown>;
  readonly res: Record<string, unknown>;
}

/** Of Express, which lets a request know its response. */
interface GraphqlRequest extends Record<string, unknown> {
  readonly res?: Record<string, unknown>;
}

/** Keeps requests to what `THROTTLE_LIMIT` allows, over HTTP, GraphQL and WebSockets alike. */
@Injectable()
export class RequestLimitGuard extends ThrottlerGuard {
  protected override getRequestResponse(context: ExecutionContext): RequestAndResponse {
    if (context.getType<string>() !== 'graphql') return super.getRequestResponse(context);
    const req = askerOf(context.getArgByIndex<{ req?: unknown }>(2)) as GraphqlRequest;
    // A WebSocket has no response whose headers could say anything.
    return { req, res: req.res ?? {} };
  }
}
