import type { Provider, Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from './configuration-error.js';
import { warnOfLazyLoading } from './lazy-loading.js';

/** Within a module, that no other one of its class stands in its way. */
export const IS_ONCE = Symbol('IS_ONCE');

/** Refuses a second module of a class in an app, which others would take for the first one. */
export function oncePerApp(moduleOf: () => Type, advice: string): Provider {
  return {
    provide: IS_ONCE,
    inject: [ModulesContainer],
    useFactory: (modules: ModulesContainer): true => {
      const module = moduleOf();
      warnOfLazyLoading(module, modules);
      if (modulesOf(module, modules).length < 2) return true;
      throw new ConfigurationError([
        `The app has two ${module.name}s that parts of it would take for one. Call forRoot once: ${advice}`,
      ]);
    },
  };
}

/** The modules of a class. One that is imported in many places is there once. */
export function modulesOf(
  module: Type,
  modules: ModulesContainer,
): readonly NonNullable<ReturnType<ModulesContainer['get']>>[] {
  return [...modules.values()].filter(({ metatype }) => metatype === module);
}
