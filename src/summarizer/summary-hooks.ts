import { checkHook } from '../sessions/domain/process/checked-hook.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import type { ConversationLine } from './models/summary-model.js';
import type { SessionSummary } from './session-summary.js';
import type { DueTrigger } from './summary-agenda.js';

/** The input of a hook before the model is called. */
export interface BeforeSummary {
  readonly key: SessionKey;
  /** Of which branch it is a summary; missing for the whole conversation. */
  readonly branch?: string | undefined;
  readonly events: readonly LoggedEvent[];
  readonly conversation: readonly ConversationLine[];
  readonly previousSummary?: string | undefined;
}

/** The answer of a model before it is stored. */
export interface AfterSummary {
  readonly key: SessionKey;
  /** Of which branch it is a summary; missing for the whole conversation. */
  readonly branch?: string | undefined;
  readonly text: string;
  readonly toSeq: number;
}

/**
 * May return other lines for the model, for example without secrets. `false` cancels the summary; it is retried after half
 * a minute, and later each time.
 */
export type BeforeSummaryHook = (
  summary: BeforeSummary,
) => readonly ConversationLine[] | false | void | Promise<readonly ConversationLine[] | false | void>;

/** May return another text to store. `false` discards the answer and cancels the summary in the same way. */
export type AfterSummaryHook = (summary: AfterSummary) => string | false | void | Promise<string | false | void>;

/**
 * Called when an event makes a summary due, of the whole or of `dueSince.branch`. Nothing waits for it, and if it fails, the sweep still
 * finds the session.
 */
export type DueListener = (key: SessionKey, dueSince: DueTrigger) => void | Promise<void>;

/** Called after a summary was stored. Nothing waits for it, and a failure undoes nothing. */
export type StoredListener = (key: SessionKey, summary: SessionSummary) => void | Promise<void>;

/**
 * Hooks around the writing of summaries, called in the order of their registration.
 *
 * @example summaries.hooks.onStored((key, { compressionRatio }) => metrics.observe(compressionRatio));
 */
export class SummaryHooks {
  readonly #before = new Set<BeforeSummaryHook>();
  readonly #after = new Set<AfterSummaryHook>();
  readonly #due = new Set<DueListener>();
  readonly #stored = new Set<StoredListener>();

  /**
   * Registers a hook. Returns a function that removes it.
   * @example hooks.onBeforeSummary(({ conversation }) => conversation.map(withoutCardNumbers));
   */
  onBeforeSummary(hook: BeforeSummaryHook): () => void {
    checkHook('onBeforeSummary', hook);
    this.#before.add(hook);
    return () => this.#before.delete(hook);
  }

  /**
   * Registers a hook. Returns a function that removes it.
   * @example hooks.onAfterSummary(({ text }) => (isHarmless(text) ? text : false));
   */
  onAfterSummary(hook: AfterSummaryHook): () => void {
    checkHook('onAfterSummary', hook);
    this.#after.add(hook);
    return () => this.#after.delete(hook);
  }

  /**
   * Registers a listener to sessions that an append of this process makes due: for a queue, if `leaveToOthers` is on. Returns a
   * function that removes it.
   * @example hooks.onDue(async (key, dueSince) => void (await queue.add('summary', { key, dueSince })));
   */
  onDue(listener: DueListener): () => void {
    checkHook('onDue', listener);
    this.#due.add(listener);
    return () => this.#due.delete(listener);
  }

  /**
   * Registers a listener to all summaries that this process stores. Returns a function that removes it.
   * @example hooks.onStored((key, { compressionRatio }) => metrics.observe(compressionRatio));
   */
  onStored(listener: StoredListener): () => void {
    checkHook('onStored', listener);
    this.#stored.add(listener);
    return () => this.#stored.delete(listener);
  }

  /** Returns the lines for the model; `undefined` if a hook cancelled the summary. */
  async before({
    key,
    events,
    conversation: lines,
    ...summary
  }: BeforeSummary): Promise<readonly ConversationLine[] | undefined> {
    let conversation = lines;
    for (const hook of this.#before) {
      const changed = await hook({ ...summary, key: { ...key }, events: [...events], conversation });
      if (changed === false) return undefined;
      conversation = changed ?? conversation;
      if (!areLines(conversation)) throw new TypeError('it returned lines that are not { author, text }');
    }
    return conversation;
  }

  /** Returns the text to store; `undefined` if a hook discarded it. */
  async after({ key, text: answer, ...summary }: AfterSummary): Promise<string | undefined> {
    let text = answer;
    for (const hook of this.#after) {
      const changed = await hook({ ...summary, key: { ...key }, text });
      if (changed === false) return undefined;
      text = changed ?? text;
    }
    return text;
  }

  due(key: SessionKey, since: DueTrigger, onError: (error: unknown) => void): void {
    const notify = async (listener: DueListener): Promise<void> => listener({ ...key }, { ...since });
    for (const listener of this.#due) notify(listener).catch(onError);
  }

  stored(key: SessionKey, summary: SessionSummary, onError: (error: unknown) => void): void {
    const notify = async (listener: StoredListener): Promise<void> => listener({ ...key }, { ...summary });
    for (const listener of this.#stored) notify(listener).catch(onError);
  }
}

function areLines(lines: unknown): boolean {
  return Array.isArray(lines) && lines.every(isLine);
}

function isLine(line: unknown): boolean {
  if (typeof line !== 'object' || line === null) return false;
  const { author, text } = line as Record<string, unknown>;
  return typeof author === 'string' && typeof text === 'string';
}
