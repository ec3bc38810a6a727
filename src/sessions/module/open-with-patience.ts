import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailableError } from '../domain/errors/errors.js';

/** How often and after how long to try again. */
export interface Patience {
  readonly retryAttempts: number;
  readonly retryDelayMs: number;
  /** Called before each pause. */
  readonly log: (message: string) => void;
}

/**
 * Opens a store that may not be up yet, such as a database that starts together with the app. Other errors, such as a wrong password, are
 * passed on at once.
 *
 * @throws what the last attempt throws
 */
export async function openWithPatience(open: () => Promise<void>, patience: Patience): Promise<void> {
  const { retryAttempts, retryDelayMs, log } = patience;
  for (let tries = 1; ; tries++) {
    try {
      await open();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || tries > retryAttempts) throw error;
      const next = `trying again in ${retryDelayMs / 1_000} s (${tries} of ${retryAttempts})`;
      log(`The store of the sessions cannot be opened yet; ${next}. ${error.reason}`);
      await pause(retryDelayMs);
    }
  }
}
