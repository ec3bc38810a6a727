import { type SessionKey, sessionNameOf } from './domain/values/ids.js';
import { remembered } from './storage/remembered.js';
import type { SessionStorage } from './storage/session-storage.js';

/**
 * Wakes watches of a session. A signal is a hint without data: the watch then reads the log. A lost signal only costs
 * time, since watches also poll.
 */
export interface SessionSignals {
  /** Calls `wake` at each announcement of the session. Returns a function that unsubscribes. */
  subscribe(key: SessionKey, wake: (news?: SessionNews) => void): () => void;
  /** Wakes all subscribers of the session. Default news: anything. */
  announce(key: SessionKey, news?: SessionNews): void;
}

/** Only partial events are new, so that who reads none may go on to wait. */
export type SessionNews = 'partials';

/**
 * Signals within one process. Sessions without subscribers take no memory.
 *
 * @example const sessions = new SessionService({ storage, signals: new InProcessSignals() }); // isolated from other services
 */
export class InProcessSignals implements SessionSignals {
  readonly #wakers = new Map<string, Set<(news?: SessionNews) => void>>();

  subscribe(key: SessionKey, wake: (news?: SessionNews) => void): () => void {
    const name = sessionNameOf(key);
    const wakers = this.#wakers.get(name) ?? new Set();
    // The same function may subscribe more than once.
    const own = (news?: SessionNews): void => wake(news);
    this.#wakers.set(name, wakers.add(own));
    return () => {
      wakers.delete(own);
      if (wakers.size === 0 && this.#wakers.get(name) === wakers) this.#wakers.delete(name);
    };
  }

  announce(key: SessionKey, news?: SessionNews): void {
    if (this.#wakers.size === 0) return;
    for (const wake of this.#wakers.get(sessionNameOf(key)) ?? []) wake(news);
  }

  /** Number of subscribers. */
  get size(): number {
    return [...this.#wakers.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

/** Signals within one process that any session changed. Without listeners, signals cost nothing. */
export class ChangeBell {
  readonly #listeners = new Set<() => void>();

  /** Returns a function that stops listening. */
  listen(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  ring(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The bell that all services over one storage share. */
export const bellOf = remembered((_storage: SessionStorage) => new ChangeBell(), new WeakMap());

/** The signals that all services over one storage share. */
export const signalsOf = remembered((_storage: SessionStorage) => new InProcessSignals(), new WeakMap());
