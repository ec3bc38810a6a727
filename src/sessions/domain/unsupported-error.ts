import { SessionsError } from './errors.js';

/**
 * The configured store cannot do this at all. Nothing was written.
 *
 * @example if (error instanceof UnsupportedByStoreError) logger.error(`Choose another store: ${error.message}`);
 */
export class UnsupportedByStoreError extends SessionsError {
  readonly code = 'UNSUPPORTED_BY_STORE';
  readonly status = 501;
}
