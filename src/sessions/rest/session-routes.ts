import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type ModuleMetadata,
  type Provider,
  type Type,
  applyDecorators,
  Controller,
  createParamDecorator,
  Injectable,
  UnsupportedMediaTypeException,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { AccessChecks } from '../transport/access-checks.js';
import { type SessionAccessOptions, accessProviders } from '../transport/session-access.module.js';
import { AccessGuard } from './access.guard.js';
import { ConditionGuard } from './condition.guard.js';
import { HttpExchange } from './http-exchange.js';
import { ProblemFilter } from './problem.filter.js';

/** A controller whose routes are closed unless they have `@RequireAccess`. */
export const SessionRoutes = (path: string): ClassDecorator =>
  applyDecorators(
    Controller(path),
    UseGuards(JsonRequestGuard, AccessGuard, ConditionGuard),
    UseFilters(ProblemFilter),
  );

/** Options of a module of routes. `access` is only needed without `SessionAccessModule`. */
export interface RoutesOptions extends Partial<SessionAccessOptions> {
  /** The prefix of all paths, such as `api/v1`. */
  readonly path?: string | undefined;
  /** Modules that provide the service and what `access` injects, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/**
 * Mounts a module of routes with these options.
 *
 * @param providers what the controllers need beside them
 */
export function routesModule(
  module: Type,
  { path, imports = [], ...access }: RoutesOptions,
  providers: readonly Provider[] = [],
): DynamicModule {
  const routed = path === undefined ? [] : [RouterModule.register([{ path, module }])];
  return {
    module,
    imports: [...imports, ...routed],
    providers: [...accessProviders(access), AccessChecks, ...providers],
  };
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
const NO_JSON = 'Send Content-Type: application/json, and {} where there is nothing to say.';

/**
 * Refuses writes without a JSON content type. Browsers send other types cross-site without a preflight, and a body that was not
 * parsed as JSON would look empty.
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

/** The request body. Global pipes do not touch it. */
export const JsonBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): unknown => HttpExchange.of(context).request.body,
);

/** Ids in the path. The domain rules validate them. */
export interface AppParams {
  readonly appName: string;
}

export interface UserParams extends AppParams {
  readonly userId: string;
}

export interface SessionParams extends UserParams {
  readonly sessionId: string;
}
