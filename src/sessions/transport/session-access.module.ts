import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type ModuleMetadata,
  type OnModuleDestroy,
  type OnModuleInit,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { problemsOfGroup } from '../../config/option-checks.js';
import { ConfigurationError } from '../../config/configuration-error.js';
import { type SettingsOf, seconds, wholeNumber } from '../../config/setting.js';
import { AccessChecks, STREAM_LIMITS } from './access-checks.js';
import { SessionAccess } from './session-access.js';
import { shareChecks, unshareChecks } from './shared-checks.js';
import type { StreamLimits } from './stream-access.js';

/** The access rule, and the limits of streams. */
export interface SessionAccessOptions {
  /** A rule, or its class for Nest to instantiate. */
  readonly access: SessionAccess | Type<SessionAccess>;
  /** The age limit of streams, and how often the rule is asked again. */
  readonly streams?: StreamLimits | undefined;
}

/** The same options from a factory. */
export interface AsyncSessionAccessOptions extends Pick<
  FactoryProvider<SessionAccessOptions>,
  'inject' | 'useFactory'
> {
  readonly imports?: ModuleMetadata['imports'];
}

const OPTIONS = Symbol('SESSION_ACCESS_OPTIONS');

/**
 * Provides the access rule for all routes, fields and streams of an app.
 *
 * @example
 * imports: [
 *   SessionAccessModule.forRoot({ access: clientAccess() }),
 *   SessionsRestModule.forRoot(),
 *   SessionsGraphqlModule.forRoot(),
 * ];
 */
@Module({})
export class SessionAccessModule implements OnModuleInit, OnModuleDestroy {
  constructor(@Inject(AccessChecks) private readonly checks: AccessChecks) {}

  onModuleInit(): void {
    shareChecks(this.checks);
  }

  onModuleDestroy(): void {
    unshareChecks(this.checks);
  }

  /** @param options with `imports` for what the rule injects, if that is not global */
  static forRoot({ imports = [], ...options }: SessionAccessOptions & Pick<ModuleMetadata, 'imports'>): DynamicModule {
    return moduleOf(accessProviders(options), imports);
  }

  /**
   * @example
   * SessionAccessModule.forRootAsync({ inject: [Settings], useFactory: ({ streams }) => ({ access: OwnSessions, streams }) });
   */
  static forRootAsync({ imports = [], inject = [], useFactory }: AsyncSessionAccessOptions): DynamicModule {
    const providers: Provider[] = [
      { provide: OPTIONS, inject, useFactory },
      { provide: SessionAccess, inject: [OPTIONS, ModuleRef], useFactory: madeRule },
      { provide: STREAM_LIMITS, inject: [OPTIONS], useFactory: checkedLimits },
    ];
    return moduleOf(providers, imports);
  }
}

/** Providers of the rule of one transport. Empty if it uses the rule of the app. */
export function accessProviders({ access, streams }: Partial<SessionAccessOptions>): Provider[] {
  if (access === undefined) return [];
  const rule: Provider =
    typeof access === 'function'
      ? { provide: SessionAccess, useClass: access }
      : { provide: SessionAccess, useValue: checkedRule(access) };
  return [rule, { provide: STREAM_LIMITS, useValue: checkedLimits({ streams }) }];
}

function moduleOf(providers: Provider[], imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
  const exports = [SessionAccess, STREAM_LIMITS, AccessChecks];
  return {
    module: SessionAccessModule,
    global: true,
    imports: [...imports],
    providers: [...providers, AccessChecks],
    exports,
  };
}

async function madeRule({ access }: SessionAccessOptions, modules: ModuleRef): Promise<SessionAccess> {
  return typeof access === 'function' ? modules.create(access) : checkedRule(access);
}

function checkedRule(access: unknown): SessionAccess {
  if (access instanceof SessionAccess) return access;
  throw new ConfigurationError(['`access` must be a class that extends SessionAccess, or an object of one.']);
}

const STREAMS: SettingsOf<StreamLimits> = {
  maxAgeSeconds: { kind: seconds },
  recheckSeconds: { kind: seconds },
  stallSeconds: { kind: seconds },
  maxBufferedBytes: { kind: wholeNumber() },
  maxStreamsPerClient: { kind: wholeNumber() },
  trustedProxies: { kind: wholeNumber() },
};

function checkedLimits({ streams = {} }: Pick<SessionAccessOptions, 'streams'>): StreamLimits {
  const problems = problemsOfGroup('streams', STREAMS, streams);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return streams;
}
