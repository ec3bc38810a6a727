import { Logger, type Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/**
 * Says what a module lacks that `LazyModuleLoader` loads. Nest has no hook that such a module could use instead, and one that is global
 * looks to it like one of the start.
 */
export function warnOfLazyLoading(module: Type, modules: ModulesContainer): void {
  // All modules of the start have a distance from the root before Nest creates their providers.
  const isLazy = [...modules.values()].some(({ metatype, distance }) => metatype === module && distance === 0);
  if (!isLazy) return;
  new Logger(module.name).warn(
    `${module.name} is loaded lazily, so Nest calls none of its hooks and serves none of its routes: nothing of it begins by itself, and closing the app does not close it. Import it in a module that the app starts with.`,
  );
}
