import { Inject } from '@nestjs/common';

/** Injection token of the session store. */
export const SESSION_STORAGE = Symbol('SESSION_STORAGE');

/** Injection token of the complete `ttl` settings, for modules beside sessions. */
export const SESSION_TTL = Symbol('SESSION_TTL');

/**
 * Injects the session store, mainly for its leases and its agenda. Inject the service by its class.
 *
 * @example
 * constructor(private readonly sessions: SessionService, @InjectSessionStorage() private readonly storage: SessionStorage) {}
 */
export const InjectSessionStorage = (): PropertyDecorator & ParameterDecorator => Inject(SESSION_STORAGE);
