import {
  type DynamicModule,
  type ExecutionContext,
  type ModuleMetadata,
  type Provider,
  type Type,
  applyDecorators,
  Controller,
  createParamDecorator,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { type OptionKinds, checkOptions } from '../domain/values/given-options.js';
import { oncePerApp } from '../../config/once-per-app.js';
import { AccessChecks } from '../transport/access-checks.js';
import { ACCESS_KINDS, type SessionAccessOptions, accessProviders } from '../transport/session-access.module.js';
import { AccessGuard } from './access.guard.js';
import { IfMatchGuard } from './if-match.guard.js';
import { HttpExchange } from './http-exchange.js';
import { JsonRequestGuard } from './json-request.guard.js';
import { ProblemFilter } from './problem.filter.js';

/**
 * A controller whose routes are closed unless they have `@RequireAccess`.
 *
 * @example
 * \@SessionRoutes('apps/:appName/users/:userId/my-protocol')
 * export class MyController {}
 */
export const SessionRoutes = (path: string): ClassDecorator =>
  applyDecorators(Controller(path), UseGuards(JsonRequestGuard, AccessGuard, IfMatchGuard), UseFilters(ProblemFilter));

/** Options of a module of routes. `access` is only needed without `SessionAccessModule`. */
export interface RoutesOptions extends Partial<SessionAccessOptions> {
  /** The prefix of all paths, such as `api/v1`. */
  readonly path?: string | undefined;
  /** Modules that provide the service and what `access` injects, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

const ONE_PATH = 'Nest keeps the path of a module by its class, so that the routes of one would be missing.';

/** For modules that have more options than these. */
export const ROUTES: OptionKinds<RoutesOptions> = { path: 'text?', imports: 'list?', ...ACCESS_KINDS };

/**
 * Mounts a module of routes with these options.
 *
 * @param providers what the controllers need beside them
 *
 * @example
 * \@Module({ controllers: [MyController] })
 * export class MyRoutesModule {
 *   static forRoot(options: RoutesOptions = {}): DynamicModule {
 *     return routesModule(MyRoutesModule, options);
 *   }
 * }
 */
export function routesModule(module: Type, options: RoutesOptions, providers: readonly Provider[] = []): DynamicModule {
  checkOptions(module.name, options, ROUTES);
  const { path, imports = [], ...access } = options;
  const routed = path === undefined ? [] : [RouterModule.register([{ path, module }])];
  return {
    module,
    imports: [...imports, ...routed],
    providers: [...accessProviders(access), AccessChecks, ...providers, oncePerApp(() => module, ONE_PATH)],
  };
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
