import type { DynamicModule, ModuleMetadata, Type } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { SessionAccess } from '../faces/session-access.js';

/** What an app says to a module of routes. */
export interface RoutesOptions {
  /** Decides who may touch what; `OpenAccess` lets everybody do everything. */
  readonly access: Type<SessionAccess>;
  /** In front of all paths, such as `api/v1`. */
  readonly path?: string | undefined;
  /** What provides the service behind the routes, and what `access` needs, where they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/** A module of routes, as its app wants it. */
export function routesModule(module: Type, { access, path, imports = [] }: RoutesOptions): DynamicModule {
  const routed = path === undefined ? [] : [RouterModule.register([{ path, module }])];
  return { module, imports: [...imports, ...routed], providers: [{ provide: SessionAccess, useClass: access }] };
}
