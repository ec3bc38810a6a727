import type { DynamicModule, ModuleMetadata, Provider, Type } from '@nestjs/common';
import { type OptionKinds, checkOptions } from '../domain/values/given-options.js';
import { oncePerApp } from '../../config/once-per-app.js';
import { AccessChecks } from '../transport/access-checks.js';
import { ACCESS_KINDS, type SessionAccessOptions, accessProviders } from '../transport/session-access.module.js';

/** An access rule of its own, if `SessionAccessModule` does not provide the rule of the app. */
export interface FieldsOptions extends Partial<SessionAccessOptions> {
  /** Modules that provide what the fields ask and the dependencies of `access`, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

const ONE_SCHEMA = 'a schema has one field of each name. sessionsName says whose sessions SessionsGraphqlModule shows.';

/** For modules that have more options than these. */
export const FIELDS: OptionKinds<FieldsOptions> = { imports: 'list?', ...ACCESS_KINDS };

/**
 * A module of resolvers with its access checks, as `routesModule` is one of controllers.
 *
 * @param providers what the resolvers need beside them
 */
export function fieldsModule(module: Type, options: FieldsOptions, providers: readonly Provider[] = []): DynamicModule {
  checkOptions(module.name, options, FIELDS);
  const { imports = [], ...access } = options;
  const rule = [...accessProviders(access), AccessChecks];
  return { module, imports: [...imports], providers: [...rule, ...providers, oncePerApp(() => module, ONE_SCHEMA)] };
}
