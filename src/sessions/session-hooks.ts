import { checkHook } from './domain/process/checked-hook.js';
import type { EventInput, EventLike, LoggedEvent } from './domain/event/event.js';
import type { SessionKey, UserKey } from './domain/values/ids.js';
import type { SessionRecord } from './domain/stored/session-record.js';
import type { ComponentStore } from './storage/component-store.js';

/** An event that is about to be appended. */
export interface BeforeAppend {
  readonly key: SessionKey;
  readonly event: EventLike;
}

/** An event that was appended, and the session after it. Hooks get each event of a batch, in order. */
export interface AfterAppend {
  readonly key: SessionKey;
  readonly event: LoggedEvent;
  /** The session after the append: of a batch, after all of its events. */
  readonly record: SessionRecord;
}

/** A session that is about to be deleted. Perhaps there is none. */
export interface BeforeDelete {
  readonly key: SessionKey;
}

/** A user of whom everything is about to be removed. */
export interface BeforeErase {
  readonly user: UserKey;
  /** The store whose component state of the user is removed without any hook. */
  readonly components: ComponentStore | undefined;
}

/** May return another event to append instead, or throw to refuse the append. Must not change the target of a rewind. */
export type BeforeAppendHook = (append: BeforeAppend) => EventInput | void | Promise<EventInput | void>;

/** Runs after the append is acknowledged. Neither delays the append nor makes it fail. */
export type AfterAppendHook = (append: AfterAppend) => void | Promise<void>;

/** Runs before the session is deleted, so it never meets a new one of the same id. If it throws, the session stays. */
export type BeforeDeleteHook = (deletion: BeforeDelete) => void | Promise<void>;

/** Runs before the user's data is removed. If it throws, nothing of that is removed yet. */
export type BeforeEraseHook = (erasure: BeforeErase) => void | Promise<void>;

/**
 * Hooks of appends, for summaries, metrics, redaction and the like, and of deletions.
 *
 * A hook before a write refuses it with an error that it makes itself: a `SessionsError`, or an exception of Nest, is what the client gets.
 * One that another operation threw to it is the hook's fault (500, and a line in the log), except `StoreUnavailableError`,
 * `BudgetExceededError`, `QuotaExceededError`, and `SessionNotFoundError` if it is the hook's own session that is missing.
 *
 * @example
 * const forget = sessions.hooks.onAfterAppend(({ event }) => metrics.count(event.author));
 */
export class SessionHooks {
  readonly #before = new Set<BeforeAppendHook>();
  readonly #after = new Set<AfterAppendHook>();
  readonly #delete = new Set<BeforeDeleteHook>();
  readonly #erase = new Set<BeforeEraseHook>();

  /**
   * Registers a hook. Returns a function that removes it.
   *
   * @example hooks.onBeforeAppend(({ event }) => ({ ...event, customMetadata: { region: 'eu' } }));
   */
  onBeforeAppend(hook: BeforeAppendHook): () => void {
    checkHook('onBeforeAppend', hook);
    this.#before.add(hook);
    return () => this.#before.delete(hook);
  }

  /**
   * Registers a hook. Returns a function that removes it.
   *
   * @example const forget = hooks.onAfterAppend(({ key, event }) => audit.log(key, event.id));
   */
  onAfterAppend(hook: AfterAppendHook): () => void {
    checkHook('onAfterAppend', hook);
    this.#after.add(hook);
    return () => this.#after.delete(hook);
  }

  /**
   * Registers a hook. Returns a function that removes it. A deletion that failed may be repeated, and so may the hook.
   *
   * @example hooks.onBeforeDelete(({ key }) => files.removeFolder(key.sessionId));
   */
  onBeforeDelete(hook: BeforeDeleteHook): () => void {
    checkHook('onBeforeDelete', hook);
    this.#delete.add(hook);
    return () => this.#delete.delete(hook);
  }

  /**
   * Registers a hook. Returns a function that removes it.
   *
   * @example hooks.onBeforeErase(({ user }) => files.removeAllOf(user.userId));
   */
  onBeforeErase(hook: BeforeEraseHook): () => void {
    checkHook('onBeforeErase', hook);
    this.#erase.add(hook);
    return () => this.#erase.delete(hook);
  }

  /** Whether there is a hook before appends. */
  get hasBeforeAppend(): boolean {
    return this.#before.size > 0;
  }

  /** Whether there is a hook after appends. */
  get hasAfterAppend(): boolean {
    return this.#after.size > 0;
  }

  /** Whether there is a hook before deletions. */
  get hasBeforeDelete(): boolean {
    return this.#delete.size > 0;
  }

  /** Passes an event through the hooks, in order of registration. */
  async runBeforeAppend({ key, event }: BeforeAppend): Promise<EventInput> {
    let current = event;
    for (const hook of this.#before) current = (await hook({ key: { ...key }, event: current })) ?? current;
    return current;
  }

  async runBeforeDelete(key: SessionKey): Promise<void> {
    for (const hook of this.#delete) await hook({ key: { ...key } });
  }

  async runBeforeErase(user: UserKey, components: ComponentStore | undefined): Promise<void> {
    for (const hook of this.#erase) await hook({ user: { ...user }, components });
  }

  /** Starts every hook, each with its own copy of the append. */
  startAfterAppend(append: () => AfterAppend): Promise<void>[] {
    return [...this.#after].map(async (hook) => hook(append()));
  }
}
