import { InvalidInputError } from './domain/errors/errors.js';
import { findEnvironment } from './service-environment.js';
import type { SessionService } from './session.service.js';
import type { SessionStorage } from './storage/session-storage.js';

/** A store, or the service that works in it. */
export type StorageSource = SessionStorage | SessionService;

/**
 * The store of a service, for its leases and its agenda, or a store as it is.
 *
 * @example await withLease({ leases: storageOf(sessions).leases, name: 'report', ttlMs: 30_000 }, writeReport);
 */
export function storageOf(source: StorageSource): SessionStorage {
  const storage = findEnvironment(source)?.storage;
  if (storage) return storage;
  if (isStorage(source)) return source;
  throw new InvalidInputError('must be a SessionService or a SessionStorage', 'sessions');
}

function isStorage(source: unknown): source is SessionStorage {
  return typeof source === 'object' && source !== null && 'append' in source && 'read' in source;
}
