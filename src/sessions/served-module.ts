import type { ConfigurableModuleAsyncOptions, DynamicModule, ModuleMetadata, Provider, Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../config/configuration-error.js';
import { warnOfLazyLoading } from '../config/lazy-loading.js';
import { IS_ONCE, modulesOf } from '../config/once-per-app.js';
import { type OptionKinds, checkOptions } from './domain/values/given-options.js';
import { type ServedSessions, servedSessions } from './sessions.tokens.js';

/** What modules that serve the sessions of `SessionsModule` take beside their options. */
export interface ServedExtras extends ServedSessions {
  readonly isGlobal?: boolean;
  /** The modules that provide what this one injects, if they are not global. */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
}

/** The names of {@link ServedExtras}, for `setExtras`. */
export const SERVED_EXTRAS: ServedExtras = { isGlobal: false, imports: [], sessionsName: undefined };

const EXTRAS: OptionKinds<ServedExtras> = { isGlobal: 'flag?', imports: 'list?', sessionsName: 'text?' };

/** What `forRootAsync` takes, beside the extras of a module. */
const ASYNC_KINDS: OptionKinds<ConfigurableModuleAsyncOptions<object>> = {
  imports: 'list?',
  inject: 'list?',
  useFactory: 'function?',
  useClass: 'function?',
  useExisting: 'anything?',
  provideInjectionTokensFrom: 'list?',
};

const FOR_CONFIG = 'a function has no options; of what registerAs() of @nestjs/config returned, give .asProvider().';

/**
 * Refuses what `forRootAsync` would not see, and what Nest would make no options of.
 *
 * @param extras those of the module, by their kinds
 * @throws ConfigurationError
 */
export function checkedAsync<Options extends object>(
  module: Type,
  options: Options,
  extras: OptionKinds<object> = EXTRAS,
): Options {
  const owner = `${module.name}.forRootAsync`;
  if (typeof options === 'function') throw new ConfigurationError([`${owner}: ${FOR_CONFIG}`]);
  checkOptions<ConfigurableModuleAsyncOptions<object>>(owner, options, { ...ASYNC_KINDS, ...extras });
  const { useFactory, useClass, useExisting }: ConfigurableModuleAsyncOptions<object> = options;
  if (useFactory ?? useClass ?? useExisting) return options;
  throw new ConfigurationError([`${owner}: nothing gives the options; set useFactory, useClass or useExisting.`]);
}

/** Adds the extras to the definition of a module. */
export function withSessions(definition: DynamicModule, extras: ServedExtras): DynamicModule {
  return withExtras(definition, extras, servedSessions(extras));
}

/** The same, where the sessions come from another provider. */
export function withExtras(
  definition: DynamicModule,
  { isGlobal = false, imports = [], sessionsName }: ServedExtras,
  sessions: Provider,
): DynamicModule {
  checkOptions<ServedExtras>(definition.module.name, { isGlobal, imports, sessionsName }, EXTRAS);
  return {
    ...definition,
    global: isGlobal,
    imports: [...new Set([...(definition.imports ?? []), ...imports])],
    providers: [...(definition.providers ?? []), sessions, { provide: SERVED_NAME, useValue: sessionsName ?? '' }],
  };
}

/** The name of the store whose sessions a module serves; empty for the one without a name. */
const SERVED_NAME = Symbol('SERVED_NAME');

/** What to do about a second module that is one too many. */
export const ONE_MODULE = 'Call forRoot once, with isGlobal: true, or import what it returned wherever it is needed.';

/** Refuses a second module of a class for the sessions of one store, where both would do the same work. */
export function oncePerStore(moduleOf: () => Type, problem: string): Provider {
  return {
    provide: IS_ONCE,
    inject: [ModulesContainer, SERVED_NAME],
    useFactory: (modules: ModulesContainer, name: string): true => {
      const module = moduleOf();
      warnOfLazyLoading(module, modules);
      const names = modulesOf(module, modules).map(({ providers }) => providers.get(SERVED_NAME)?.instance);
      if (names.filter((each) => each === name).length < 2) return true;
      const store = name === '' ? 'the store without a name' : `the store ${JSON.stringify(name)}`;
      throw new ConfigurationError([
        `The app has two ${module.name}s for the sessions of ${store}: ${problem}. ${ONE_MODULE}`,
      ]);
    },
  };
}
