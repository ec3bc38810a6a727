import { StoreUnavailableError } from './errors.js';

/**
 * The error of a call after `close()`: it does not help to repeat it.
 *
 * @example if (this.#isClosed) throw storeClosed();
 */
export function storeClosed(): StoreUnavailableError {
  const advice = 'Nothing was written: use one that is open, and close it after its last call.';
  return new StoreUnavailableError('The session store is closed.', false, { advice });
}
