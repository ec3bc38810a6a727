import { type CanActivate, type ExecutionContext, Injectable, UnsupportedMediaTypeException } from '@nestjs/common';
import { NO_JSON } from '../transport/problems.js';
import { HttpExchange } from './http-exchange.js';

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Refuses writes without a JSON content type. Browsers send other types cross-site without a preflight, and a body that was not
 * parsed as JSON would look empty.
 *
 * @example \@UseGuards(JsonRequestGuard)
 */
@Injectable()
export class JsonRequestGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const exchange = HttpExchange.of(context);
    if (!WITH_BODY.has(exchange.request.method)) return true;
    const type = exchange.header('content-type') ?? '';
    if (!/^\s*application\/json\s*(;|$)/i.test(type)) throw new UnsupportedMediaTypeException(NO_JSON);
    // Fastify decodes every body as UTF-8, which would corrupt other charsets.
    const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type)?.[1] ?? 'utf-8';
    if (/^(utf-8|us-ascii)$/i.test(charset)) return true;
    throw new UnsupportedMediaTypeException('Send the body in UTF-8, as JSON is.');
  }
}
