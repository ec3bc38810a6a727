import type { EventInput, LoggedEvent } from './domain/event.js';
import type { SessionKey } from './domain/ids.js';
import type { SessionRecord } from './domain/session-record.js';

/** An event that is about to be appended. */
export interface BeforeAppend {
  readonly key: SessionKey;
  readonly event: EventInput;
}

/** An event that was appended, and the session after it. */
export interface AfterAppend {
  readonly key: SessionKey;
  readonly event: LoggedEvent;
  readonly record: SessionRecord;
}

/** May give another event to append in its place, or refuse it by throwing. Where a rewind goes it must leave as it is. */
export type BeforeAppendHook = (append: BeforeAppend) => EventInput | void | Promise<EventInput | void>;

/** Runs once the append is acknowledged: it neither delays it nor makes it fail. */
export type AfterAppendHook = (append: AfterAppend) => void | Promise<void>;

/**
 * What others hang onto appends: summaries, metrics, redaction.
 *
 * @example
 * const forget = sessions.hooks.onAfterAppend(({ event }) => metrics.count(event.author));
 */
export class SessionHooks {
  readonly #before = new Set<BeforeAppendHook>();
  readonly #after = new Set<AfterAppendHook>();

  /**
   * Registers a hook; call what it returns to take it away again.
   *
   * @example hooks.onBeforeAppend(({ event }) => ({ ...event, customMetadata: { region: 'eu' } }));
   */
  onBeforeAppend(hook: BeforeAppendHook): () => void {
    this.#before.add(hook);
    return () => this.#before.delete(hook);
  }

  /**
   * Registers a hook; call what it returns to take it away again.
   *
   * @example const forget = hooks.onAfterAppend(({ key, event }) => audit.log(key, event.id));
   */
  onAfterAppend(hook: AfterAppendHook): () => void {
    this.#after.add(hook);
    return () => this.#after.delete(hook);
  }

  /** Whether anybody wants to see events before they are appended. */
  get hasBeforeAppend(): boolean {
    return this.#before.size > 0;
  }

  /** Passes an event through every hook, in the order of their registration. */
  async runBeforeAppend({ key, event }: BeforeAppend): Promise<EventInput> {
    let current = event;
    for (const hook of this.#before) current = (await hook({ key: { ...key }, event: current })) ?? current;
    return current;
  }

  /** Starts every hook, each with an append of its own; the promises are for whoever waits for them to end. */
  startAfterAppend(append: () => AfterAppend): Promise<void>[] {
    return [...this.#after].map(async (hook) => hook(append()));
  }
}
