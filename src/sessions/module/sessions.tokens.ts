import { Inject } from '@nestjs/common';

/** Under this token Nest has the store of the sessions. */
export const SESSION_STORAGE = Symbol('SESSION_STORAGE');

/**
 * Injects the store of the sessions, for its leases and its agenda above all. The service itself is injected by its class.
 *
 * @example
 * constructor(private readonly sessions: SessionService, @InjectSessionStorage() private readonly storage: SessionStorage) {}
 */
export const InjectSessionStorage = (): PropertyDecorator & ParameterDecorator => Inject(SESSION_STORAGE);
