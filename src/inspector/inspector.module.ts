import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { text } from '../config/setting.js';
import { checkOptions, requireOptions } from '../sessions/domain/values/given-options.js';
import { oncePerApp } from '../config/once-per-app.js';
import { SESSION_LINKS } from '../sessions/transport/session-links.js';
import { InspectorController } from './inspector.controller.js';
import {
  INSPECTOR_KINDS,
  INSPECTOR_OPTIONS,
  INSPECTOR_ROUTE,
  type InspectorModuleOptions,
  type InspectorOptions,
  checkKinds,
  checkedOptions,
  checkedRoute,
  linksOf,
} from './inspector-options.js';
import { PageFiles } from './page-files.js';

/** Options that other providers know. The route is needed before they exist. */
export interface InspectorModuleAsyncOptions
  extends Pick<InspectorModuleOptions, 'route'>, Pick<ModuleMetadata, 'imports'> {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: (...dependencies: never[]) => InspectorOptions | Promise<InspectorOptions>;
}

/**
 * A page that shows sessions: their events, state at each of them, and what a model is given now. It is a client of the routes of
 * `SessionsRestModule`, so that the rule of the app decides what its reader sees.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   SessionAccessModule.forRoot({ access: OwnSessions }),
 *   SessionsRestModule.forRoot(),
 *   SessionsInspectorModule.forRoot({ route: '/inspector', access: (request: SignedIn) => request.user.isAdmin }),
 * ];
 */
@Module({
  controllers: [InspectorController],
  providers: [
    oncePerApp(
      () => SessionsInspectorModule,
      'Nest keeps the path of a module by its class, so that one page would be missing.',
    ),
  ],
})
export class SessionsInspectorModule {
  static forRoot(given: InspectorModuleOptions = {}): DynamicModule {
    requireOptions('SessionsInspectorModule', given);
    checkKinds(given, { ...INSPECTOR_KINDS, route: { kind: text } });
    const { route, ...options } = given;
    return mounted(route, { provide: INSPECTOR_OPTIONS, useValue: checkedOptions(options) });
  }

  static forRootAsync(given: InspectorModuleAsyncOptions): DynamicModule {
    const kinds = { route: 'text?', imports: 'list?', inject: 'list?', useFactory: 'function' } as const;
    checkOptions<InspectorModuleAsyncOptions>('SessionsInspectorModule.forRootAsync', given, kinds);
    const { route, imports, inject, useFactory } = given;
    const factory = async (...injected: never[]): Promise<InspectorOptions> =>
      checkedOptions(await useFactory(...injected));
    return mounted(route, { provide: INSPECTOR_OPTIONS, inject: inject ?? [], useFactory: factory }, imports);
  }
}

function mounted(route: string | undefined, options: Provider, imports: ModuleMetadata['imports'] = []): DynamicModule {
  const path = checkedRoute(route);
  return {
    module: SessionsInspectorModule,
    // The logs and problem bodies of other modules link to the page.
    global: true,
    exports: [SESSION_LINKS],
    imports: [...imports, RouterModule.register([{ path, module: SessionsInspectorModule }])],
    providers: [
      PageFiles,
      options,
      { provide: INSPECTOR_ROUTE, useValue: path },
      { provide: SESSION_LINKS, inject: [INSPECTOR_OPTIONS], useFactory: linksOf },
    ],
  };
}
