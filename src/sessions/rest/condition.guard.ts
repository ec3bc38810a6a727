import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InvalidInputError } from '../domain/errors.js';
import { HttpExchange } from './http-exchange.js';

const KEEPS_VERSION = Symbol('KEEPS_VERSION');

/** Says that a route writes only if the session is at the version that `If-Match` names. */
export const KeepsVersion = (): MethodDecorator => SetMetadata(KEEPS_VERSION, true);

/** Refuses a condition that a write would not keep to: whoever sends it counts on it. */
@Injectable()
export class ConditionGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const exchange = HttpExchange.of(context);
    const isRead = exchange.request.method === 'GET' || exchange.request.method === 'HEAD';
    const isKept = this.reflector.get<boolean | undefined>(KEEPS_VERSION, context.getHandler()) === true;
    if (!isRead && !isKept && exchange.expectedVersion() !== undefined) {
      throw new InvalidInputError(
        'is not possible here; appends, rewinds and changes of a session take it',
        'If-Match',
      );
    }
    return true;
  }
}
