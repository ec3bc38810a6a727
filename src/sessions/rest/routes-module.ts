import type { DynamicModule, ModuleMetadata, Type } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { AccessChecks } from '../transport/access-checks.js';
import { type SessionAccessOptions, accessProviders } from '../transport/session-access.module.js';

/** Options of a module of routes. `access` is only needed without `SessionAccessModule`. */
export interface RoutesOptions extends Partial<SessionAccessOptions> {
  /** The prefix of all paths, such as `api/v1`. */
  readonly path?: string | undefined;
  /** Modules that provide the service and what `access` injects, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/** Mounts a module of routes with these options. */
export function routesModule(module: Type, { path, imports = [], ...access }: RoutesOptions): DynamicModule {
  const routed = path === undefined ? [] : [RouterModule.register([{ path, module }])];
  return { module, imports: [...imports, ...routed], providers: [...accessProviders(access), AccessChecks] };
}
