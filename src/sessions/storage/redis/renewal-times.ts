import type { Lifetime } from '../../domain/expiry.js';
import type { SharedState } from './session-replies.js';

/** More apps than this are looked at more often than they need to be. */
const MOST_APPS = 10_000;

/** Remembers of the state of each app before when it cannot be due to be renewed, whoever writes to it. */
export class RenewalTimes {
  readonly #notBefore = new Map<string, number>();

  mayBeDue(appName: string, now: number): boolean {
    return now > (this.#notBefore.get(appName) ?? -1);
  }

  /** State that is not there now may be written at any time, and lives its whole life from then on. */
  note(appName: string, { ttlMs, renewBelowMs }: Lifetime, { now, expiresAt }: SharedState & { now: number }): void {
    if (this.#notBefore.size >= MOST_APPS) this.#notBefore.clear();
    this.#notBefore.set(appName, (expiresAt ?? now + ttlMs) - renewBelowMs);
  }
}
