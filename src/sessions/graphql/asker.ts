import type { IncomingMessage } from 'node:http';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';

/**
 * The request that opened a connection of graphql-ws, as `SessionAccess` gets it for a subscription. Browsers cannot
 * set its headers; what they send instead when they connect stands in `connectionParams`.
 */
export interface SubscriptionRequest extends IncomingMessage {
  connectionParams?: Readonly<Record<string, unknown>> | undefined;
}

/** What graphql-ws knows of a connection. */
interface Connection {
  readonly connectionParams?: Readonly<Record<string, unknown>>;
  readonly extra: { readonly request: SubscriptionRequest };
}

/** The request to decide by, over whichever transport it came. */
export function askerOf(context: { readonly req?: unknown }): unknown {
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

/** Hands a resolver the request of whoever asks. */
export const Asker = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  askerOf(context.getArgByIndex<{ req?: unknown }>(2)),
);
