import type { IncomingMessage } from 'node:http';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';

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
export function requestOf(context: { readonly req?: unknown }): unknown {
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
  requestOf(context.getArgByIndex<{ req?: unknown }>(2)),
);
