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
import { type OptionKinds, checkOptions } from '../domain/values/given-options.js';
import { oncePerApp } from '../../config/once-per-app.js';
import { AccessChecks, NO_RULE, STREAM_LIMITS } from './access-checks.js';
import { type AuditOptions, checkedAudit } from './audit/audit-options.js';
import { AuditTrail } from './audit/audit-trail.js';
import { SessionAudit } from './audit/session-audit.js';
import type { AuthOptions } from '../auth/auth-options.js';
import type { SignInRequest } from '../auth/credentials.js';
import { SignIn } from '../auth/sign-in.js';
import { accessByPreset } from './access-rules.js';
import { isForeignPage } from './cross-site.js';
import { SessionAccess } from './session-access.js';
import { shareChecks, unshareChecks } from './shared-checks.js';
import { SignedInAccess } from './signed-in-access.js';
import type { StreamLimits } from './stream-limits.js';

/** Who may do what, and the limits of streams. One of `auth` and `access` is needed. */
export interface SessionAccessOptions {
  /** Who sends a request: by a guard of the app, tokens of an issuer, or API keys. */
  readonly auth?: AuthOptions | undefined;
  /** What they may do: a rule, or its class for Nest to instantiate. Default with `auth`: {@link accessByPreset}. */
  readonly access?: SessionAccess | Type<SessionAccess> | undefined;
  /** The age limit of streams, and how often the rule is asked again. */
  readonly streams?: StreamLimits | undefined;
  /** Where it is noted who asked for what, and what came of it. Default: nowhere. */
  readonly audit?: AuditOptions | undefined;
}

/** The same options from a factory. */
export interface AsyncSessionAccessOptions extends Pick<
  FactoryProvider<SessionAccessOptions>,
  'inject' | 'useFactory'
> {
  readonly imports?: ModuleMetadata['imports'];
}

const NO_RULE_TO_AUDIT =
  '`audit` has no effect where there is no rule: give it to SessionAccessModule, or give `access`, too.';

const NO_ACCESS = '`access` must be a class that extends SessionAccess, or an object of one.';

/** The values are checked where the rule is made. */
export const ACCESS_KINDS: OptionKinds<SessionAccessOptions> = {
  auth: 'anything?',
  access: 'anything?',
  streams: 'anything?',
  audit: 'anything?',
};

const OPTIONS = Symbol('SESSION_ACCESS_OPTIONS');
/** What may be done, before `auth` says by whom. */
const GIVEN_RULE = Symbol('GIVEN_ACCESS_RULE');

/**
 * Provides the access rule for all routes, fields and streams of an app.
 *
 * @example
 * imports: [
 *   SessionAccessModule.forRoot({
 *     auth: { jwt: { jwks: 'https://login.example/.well-known/jwks.json', issuer: 'https://login.example/', audience: 'shop' } },
 *   }),
 *   SessionsRestModule.forRoot(),
 *   SessionsGraphqlModule.forRoot(),
 * ];
 */
@Module({
  providers: [
    oncePerApp(
      () => SessionAccessModule,
      'one rule holds for the whole app. A module of routes or fields takes an access of its own.',
    ),
  ],
})
export class SessionAccessModule implements OnModuleInit, OnModuleDestroy {
  constructor(@Inject(AccessChecks) private readonly checks: AccessChecks) {}

  onModuleInit(): void {
    shareChecks(this.checks);
  }

  onModuleDestroy(): void {
    unshareChecks(this.checks);
  }

  /** @param given with `imports` for what the rule injects, if that is not global */
  static forRoot(given: SessionAccessOptions & Pick<ModuleMetadata, 'imports'>): DynamicModule {
    checkOptions('SessionAccessModule', given, { ...ACCESS_KINDS, imports: 'list?' });
    const { imports = [], ...options } = given;
    const providers = accessProviders(options);
    if (providers.length === 0) throw new ConfigurationError([NO_RULE]);
    const { audit } = options;
    return moduleOf([...providers, ...(audit === undefined ? [auditProvider()] : [])], imports);
  }

  /**
   * @example
   * SessionAccessModule.forRootAsync({ inject: [Settings], useFactory: ({ streams }) => ({ access: OwnSessions, streams }) });
   */
  static forRootAsync(given: AsyncSessionAccessOptions): DynamicModule {
    const kinds = { imports: 'list?', inject: 'list?', useFactory: 'function' } as const;
    checkOptions<AsyncSessionAccessOptions>('SessionAccessModule.forRootAsync', given, kinds);
    const { imports = [], inject = [], useFactory } = given;
    const providers: Provider[] = [
      {
        provide: OPTIONS,
        inject,
        useFactory: async (...injected: never[]) => checkedNames(await useFactory(...injected)),
      },
      { provide: GIVEN_RULE, inject: [OPTIONS, ModuleRef], useFactory: madeRule },
      { provide: SessionAccess, inject: [OPTIONS, GIVEN_RULE], useFactory: signedInRule },
      { provide: STREAM_LIMITS, inject: [OPTIONS], useFactory: checkedLimits },
      { provide: AuditTrail, inject: [OPTIONS, ModuleRef], useFactory: createAuditTrail },
    ];
    return moduleOf(providers, imports);
  }
}

/** Providers of the rule of one transport. Empty if it uses the rule of the app. */
export function accessProviders({ auth, access, streams, audit }: SessionAccessOptions): Provider[] {
  if (access === undefined && auth === undefined) {
    if (audit !== undefined) throw new ConfigurationError([NO_RULE_TO_AUDIT]);
    return [];
  }
  const rule: Provider =
    typeof access === 'function'
      ? { provide: GIVEN_RULE, useClass: checkedClass(access) }
      : { provide: GIVEN_RULE, useValue: access === undefined ? accessByPreset() : checkedRule(access) };
  const signedIn: Provider = {
    provide: SessionAccess,
    inject: [GIVEN_RULE],
    useFactory: (given: unknown) => signedInRule({ auth }, checkedRule(given)),
  };
  return [
    rule,
    signedIn,
    { provide: STREAM_LIMITS, useValue: checkedLimits({ streams }) },
    ...(audit === undefined ? [] : [auditProvider(audit)]),
  ];
}

function moduleOf(providers: Provider[], imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
  const exports = [SessionAccess, STREAM_LIMITS, AccessChecks, AuditTrail, SessionAudit];
  return {
    module: SessionAccessModule,
    global: true,
    imports: [...imports],
    providers: [...providers, AccessChecks, SessionAudit],
    exports,
  };
}

async function madeRule({ access, auth }: SessionAccessOptions, modules: ModuleRef): Promise<SessionAccess> {
  if (access === undefined && auth !== undefined) return accessByPreset();
  return checkedRule(typeof access === 'function' ? await modules.create(checkedClass(access)) : access);
}

async function signedInRule({ auth }: SessionAccessOptions, rule: SessionAccess): Promise<SessionAccess> {
  return auth === undefined ? rule : new SignedInAccess(await SignIn.load(auth, Date.now, isForeignRequest), rule);
}

function auditProvider(audit?: AuditOptions): Provider {
  const checked = audit && checkedAudit(audit);
  return {
    provide: AuditTrail,
    inject: [ModuleRef],
    useFactory: (modules: ModuleRef) => new AuditTrail(checked, modules),
  };
}

function createAuditTrail({ audit }: SessionAccessOptions, modules: ModuleRef): AuditTrail {
  return new AuditTrail(audit && checkedAudit(audit), modules);
}

function isForeignRequest({ headers = {} }: SignInRequest): boolean {
  return isForeignPage(headers, []);
}

function checkedNames(options: SessionAccessOptions): SessionAccessOptions {
  checkOptions('SessionAccessModule', options, ACCESS_KINDS);
  return options;
}

function checkedRule(access: unknown): SessionAccess {
  if (!(access instanceof SessionAccess)) throw new ConfigurationError([NO_ACCESS]);
  if (typeof access.allows === 'function') return access;
  throw new ConfigurationError([
    `${access.constructor.name} extends SessionAccess without allows(), and decides nothing.`,
  ]);
}

function checkedClass(access: Type<SessionAccess>): Type<SessionAccess> {
  if (access.prototype instanceof SessionAccess) return access;
  throw new ConfigurationError([`${NO_ACCESS} ${access.name || 'A function without a name'} does not extend it.`]);
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
