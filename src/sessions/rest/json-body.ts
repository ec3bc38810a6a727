import { type ExecutionContext, UnsupportedMediaTypeException, createParamDecorator } from '@nestjs/common';
import { HttpExchange } from './http-exchange.js';

/**
 * The body of a request, which has to say that it is JSON: what a server did not read as JSON would look like no body at all.
 * Pipes of the whole app leave it alone.
 */
export const JsonBody = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  const exchange = HttpExchange.of(context);
  const type = exchange.header('content-type');
  if (type === undefined ? exchange.hasBody() : !/^\s*application\/json\s*(;|$)/i.test(type)) {
    throw new UnsupportedMediaTypeException('Send the body as Content-Type: application/json.');
  }
  // Fastify reads every body as UTF-8, and would put question marks where letters were.
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type ?? '')?.[1] ?? 'utf-8';
  if (!/^(utf-8|us-ascii)$/i.test(charset))
    throw new UnsupportedMediaTypeException('Send the body in UTF-8, as JSON is.');
  return exchange.request.body;
});
