import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../sessions/domain/clock.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import { InMemoryComponentStore } from '../sessions/storage/in-memory/in-memory-component-store.js';
import { ComponentSession } from './component-session.js';

import { JsonFileComponentStore } from './json-files/json-file-component-store.js';

/** Settings of {@link ComponentsModule}. */
export interface ComponentsModuleOptions {
  /** A folder for JSON files. Without it and without `store`, state is kept in memory. */
  readonly root?: string | undefined;
  /** A store of one's own. The app closes it. */
  readonly store?: ComponentStore | undefined;
  /** Sessions expire so long after their last save. Default: never. */
  readonly ttlMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly isGlobal?: boolean | undefined;
}

/** The {@link ComponentStore} of the module. */
export const COMPONENT_STORE = Symbol('COMPONENT_STORE');
const IS_OURS = Symbol('IS_OURS');

/**
 * Provides {@link ComponentSession}.
 *
 * @example ComponentsModule.forRoot({ root: './data/components', ttlMs: 30 * 24 * 3_600_000 });
 */
@Module({})
export class ComponentsModule implements OnApplicationShutdown {
  static forRoot({ root, store, ttlMs, clock, isGlobal = false }: ComponentsModuleOptions = {}): DynamicModule {
    const made = (): ComponentStore =>
      root === undefined ? new InMemoryComponentStore({ clock }) : new JsonFileComponentStore({ root, clock });
    return {
      module: ComponentsModule,
      global: isGlobal,
      providers: [
        { provide: IS_OURS, useValue: store === undefined },
        { provide: COMPONENT_STORE, useFactory: () => store ?? made() },
        {
          provide: ComponentSession,
          useFactory: (chosen: ComponentStore) => new ComponentSession({ store: chosen, ttlMs }),
          inject: [COMPONENT_STORE],
        },
      ],
      exports: [ComponentSession, COMPONENT_STORE],
    };
  }

  constructor(
    @Inject(ComponentSession) private readonly components: ComponentSession,
    @Inject(IS_OURS) private readonly isOurs: boolean,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    if (this.isOurs) await this.components.close();
  }
}
