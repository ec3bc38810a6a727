import { type CanActivate, type ExecutionContext, Injectable, SetMetadata, applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiHeader } from '@nestjs/swagger';
import { InvalidInputError } from '../domain/errors/errors.js';
import { ApiProblem, PROBLEMS } from './api-responses.js';
import { HttpExchange } from './http-exchange.js';
import { expectedVersionIn } from './if-match.js';

const KEEPS_VERSION = Symbol('KEEPS_VERSION');

/** Marks a route that supports `If-Match` with the version of the session. */
export const KeepsVersion = (): MethodDecorator =>
  applyDecorators(
    SetMetadata(KEEPS_VERSION, true),
    ApiHeader({
      name: 'If-Match',
      required: false,
      description:
        'Write only if the session is at this version, given as in `ETag`, such as `"1"`; `*` accepts any version.',
      schema: { type: 'string', pattern: '^(\\*|"\\d+")$' },
    }),
    ApiProblem(412, PROBLEMS[412]),
  );

/** Refuses `If-Match` on routes that do not support it, since ignoring it would be wrong. */
@Injectable()
export class IfMatchGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const exchange = HttpExchange.of(context);
    const isRead = exchange.request.method === 'GET' || exchange.request.method === 'HEAD';
    const isKept = this.reflector.get<boolean | undefined>(KEEPS_VERSION, context.getHandler()) === true;
    if (!isRead && !isKept && expectedVersionIn(exchange) !== undefined) {
      throw new InvalidInputError(
        'is not possible here; appends, rewinds and changes of a session take it',
        'If-Match',
      );
    }
    return true;
  }
}
