import type { EventInput, LoggedEvent } from './domain/event.js';
import type { SessionKey } from './domain/ids.js';
import type { SessionRecord } from './domain/session-record.js';

/** An event that is about to be appended. */
export interface BeforeAppend {
  readonly key: SessionKey;
  readonly event: EventInput;
}

/** An event that was appended, and the session after it. Hooks get each event of a batch, in order. */
export interface AfterAppend {
  readonly key: SessionKey;
  readonly event: LoggedEvent;
  /** The session after the append: of a batch, after all of its events. */
  readonly record: SessionRecord;
}

/** May return another event to append instead, or throw to refuse the append. Must not change the target of a rewind. */
export type BeforeAppendHook = (append: BeforeAppend) => EventInput | void | Promise<EventInput | void>;

/** Runs after the append is acknowledged. Neither delays the append nor makes it fail. */
export type AfterAppendHook = (append: AfterAppend) => void | Promise<void>;

/**
 * Hooks of appends, for summaries, metrics, redaction and the like.
 *
 * @example
 * const forget = sessions.hooks.onAfterAppend(({ event }) => metrics.count(event.author));
 */
export class SessionHooks {
  readonly #before = new Set<BeforeAppendHook>();
  readonly #after = new Set<AfterAppendHook>();

  /**
   * Registers a hook. Returns a function that removes it.
   *
   * @example hooks.onBeforeAppend(({ event }) => ({ ...event, customMetadata: { region: 'eu' } }));
   */
  onBeforeAppend(hook: BeforeAppendHook): () => void {
    this.#before.add(hook);
    return () => this.#before.delete(hook);
  }

  /**
   * Registers a hook. Returns a function that removes it.
   *
   * @example const forget = hooks.onAfterAppend(({ key, event }) => audit.log(key, event.id));
   */
  onAfterAppend(hook: AfterAppendHook): () => void {
    this.#after.add(hook);
    return () => this.#after.delete(hook);
  }

  /** Whether there is a hook before appends. */
  get hasBeforeAppend(): boolean {
    return this.#before.size > 0;
  }

  /** Whether there is a hook after appends. */
  get hasAfterAppend(): boolean {
    return this.#after.size > 0;
  }

  /** Passes an event through the hooks, in order of registration. */
  async runBeforeAppend({ key, event }: BeforeAppend): Promise<EventInput> {
    let current = event;
    for (const hook of this.#before) current = (await hook({ key: { ...key }, event: current })) ?? current;
    return current;
  }

  /** Starts every hook, each with its own copy of the append. */
  startAfterAppend(append: () => AfterAppend): Promise<void>[] {
    return [...this.#after].map(async (hook) => hook(append()));
  }
}
