import { SessionsError } from './errors.js';

/**
 * The configured store cannot do this at all: the service behind it cannot, or a store of your own lacks an optional part.
 * Nothing was written.
 *
 * @example if (error instanceof UnsupportedByStoreError) logger.error(`Choose another store: ${error.message}`);
 */
export class UnsupportedByStoreError extends SessionsError {
  readonly code = 'UNSUPPORTED_BY_STORE';
  readonly status = 501;
}

/** For a store without the optional `transfer` of `SessionStorage`. */
export function withoutTransferError(what: string): UnsupportedByStoreError {
  return new UnsupportedByStoreError(
    `The store cannot ${what}: it does not implement \`transfer\` of SessionStorage. Use another store.`,
  );
}
