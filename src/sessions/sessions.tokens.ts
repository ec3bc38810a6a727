import { Inject, type InjectionToken, type Provider } from '@nestjs/common';
import { SessionService } from './session.service.js';

/** Injection token of the session store. */
export const SESSION_STORAGE = Symbol('SESSION_STORAGE');

/** Marks a provider whose `onModuleDestroy` frees nothing, and is called as soon as the app begins to close. */
export const DESTROYED_AT_ONCE = Symbol('DESTROYED_AT_ONCE');

/** Within a module, the `SessionService` that it serves: of the store with a name, or without one. Nest's errors about missing imports show the text. */
export const SERVED_SESSIONS = Symbol(
  'SERVED_SESSIONS: needs forRoot() of this module, and SessionsModule.forRoot({ …, isGlobal: true })',
);

/**
 * The injection token of the `SessionService` of the store with this name. Without a name, it is the class.
 *
 * @example const archive = app.get<SessionService>(getSessionsToken('archive'));
 */
export function getSessionsToken(name?: string): InjectionToken<SessionService> {
  return name === undefined ? SessionService : `SessionService(${name})`;
}

/**
 * The injection token of the store with this name, as for {@link SESSION_STORAGE}.
 *
 * @example
 * const archiveHealth = {
 *   provide: 'ArchiveHealth',
 *   useFactory: (...parts: ConstructorParameters<typeof SessionsHealth>) => new SessionsHealth(...parts),
 *   inject: [HealthIndicatorService, getSessionStorageToken('archive')],
 * };
 */
export function getSessionStorageToken(name?: string): InjectionToken {
  return name === undefined ? SESSION_STORAGE : `SessionStorage(${name})`;
}

/**
 * Injects the `SessionService` of the store with this name.
 *
 * @example constructor(private readonly sessions: SessionService, @InjectSessions('archive') private readonly archive: SessionService) {}
 */
export const InjectSessions = (name?: string): PropertyDecorator & ParameterDecorator => Inject(getSessionsToken(name));

/**
 * Injects the session store, mainly for its leases and its agenda. Inject the service by its class.
 *
 * @example
 * constructor(private readonly sessions: SessionService, @InjectSessionStorage() private readonly storage: SessionStorage) {}
 */
export const InjectSessionStorage = (name?: string): PropertyDecorator & ParameterDecorator =>
  Inject(getSessionStorageToken(name));

/** Which sessions a module serves. */
export interface ServedSessions {
  /** The `name` of the `SessionsModule` whose sessions are meant. Default: the one without a name. */
  readonly sessionsName?: string | undefined;
}

/** Provides {@link SERVED_SESSIONS}. */
export function servedSessions({ sessionsName }: ServedSessions): Provider {
  return { provide: SERVED_SESSIONS, useExisting: getSessionsToken(sessionsName) };
}

/** The same, of an app that may have no `SessionsModule`; one that is named has to be there. */
export function servedSessionsIfAny({ sessionsName }: ServedSessions): Provider {
  const token = getSessionsToken(sessionsName);
  const inject = [sessionsName === undefined ? { token, optional: true } : token];
  return { provide: SERVED_SESSIONS, useFactory: (sessions?: SessionService) => sessions, inject };
}
