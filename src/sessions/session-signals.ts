import { type SessionKey, sessionNameOf } from './domain/ids.js';
import type { SessionStorage } from './storage/session-storage.js';

/**
 * Tells those who wait that something may have happened to a session. A signal is a hint and carries nothing: whoever
 * hears it looks at the log. One that gets lost costs time only, since whoever waits also looks every now and then.
 */
export interface SessionSignals {
  /** Calls `wake` whenever the session is announced, until what this returns is called. */
  subscribe(key: SessionKey, wake: () => void): () => void;
  /** Calls whoever subscribed to the session. */
  announce(key: SessionKey): void;
}

/**
 * Signals within one process. Sessions that nobody waits for take no room.
 *
 * @example const sessions = new SessionService({ storage, signals: new InProcessSignals() }); // hears no other service
 */
export class InProcessSignals implements SessionSignals {
  readonly #wakers = new Map<string, Set<() => void>>();

  subscribe(key: SessionKey, wake: () => void): () => void {
    const name = sessionNameOf(key);
    const wakers = this.#wakers.get(name) ?? new Set();
    // One function may wait more than once.
    const own = (): void => wake();
    this.#wakers.set(name, wakers.add(own));
    return () => {
      wakers.delete(own);
      if (wakers.size === 0 && this.#wakers.get(name) === wakers) this.#wakers.delete(name);
    };
  }

  announce(key: SessionKey): void {
    for (const wake of this.#wakers.get(sessionNameOf(key)) ?? []) wake();
  }

  /** How many wait right now. */
  get size(): number {
    return [...this.#wakers.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

const signalsOfStorages = new WeakMap<SessionStorage, InProcessSignals>();

/** All services over one storage hear each other. */
export function signalsOf(storage: SessionStorage): InProcessSignals {
  const signals = signalsOfStorages.get(storage) ?? new InProcessSignals();
  signalsOfStorages.set(storage, signals);
  return signals;
}
