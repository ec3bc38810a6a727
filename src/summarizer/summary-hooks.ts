import type { LoggedEvent } from '../sessions/domain/event.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import type { ConversationLine } from './models/summary-model.js';
import type { SessionSummary } from './session-summary.js';

/** A stretch of conversation that is about to be shown to a model. */
export interface BeforeSummary {
  readonly key: SessionKey;
  readonly events: readonly LoggedEvent[];
  readonly conversation: readonly ConversationLine[];
  readonly previousSummary?: string | undefined;
}

/** What a model answered, before it is kept. */
export interface AfterSummary {
  readonly key: SessionKey;
  readonly text: string;
  readonly toSeq: number;
}

/**
 * May give other lines for the model to read, say without secrets; `false` calls the summary off for now: for half a minute,
 * and longer each time.
 */
export type BeforeSummaryHook = (
  summary: BeforeSummary,
) => readonly ConversationLine[] | false | void | Promise<readonly ConversationLine[] | false | void>;

/** May give another text to keep; `false` throws it away, and calls it off in the same way. */
export type AfterSummaryHook = (summary: AfterSummary) => string | false | void | Promise<string | false | void>;

/** Is told of a summary that was kept. Nothing waits for it, and nothing is undone where it fails. */
export type StoredListener = (key: SessionKey, summary: SessionSummary) => void | Promise<void>;

/**
 * What others have to say about summaries, in the order in which they asked to.
 *
 * @example summaries.hooks.onStored((key, { compressionRatio }) => metrics.observe(compressionRatio));
 */
export class SummaryHooks {
  readonly #before = new Set<BeforeSummaryHook>();
  readonly #after = new Set<AfterSummaryHook>();
  readonly #stored = new Set<StoredListener>();

  /**
   * Registers a hook; call what it returns to take it away again.
   * @example hooks.onBeforeSummary(({ conversation }) => conversation.map(withoutCardNumbers));
   */
  onBeforeSummary(hook: BeforeSummaryHook): () => void {
    this.#before.add(hook);
    return () => this.#before.delete(hook);
  }

  /**
   * Registers a hook; call what it returns to take it away again.
   * @example hooks.onAfterSummary(({ text }) => (isHarmless(text) ? text : false));
   */
  onAfterSummary(hook: AfterSummaryHook): () => void {
    this.#after.add(hook);
    return () => this.#after.delete(hook);
  }

  /**
   * Tells of every summary that was kept by this process.
   * @example hooks.onStored((key, { compressionRatio }) => metrics.observe(compressionRatio));
   */
  onStored(listener: StoredListener): () => void {
    this.#stored.add(listener);
    return () => this.#stored.delete(listener);
  }

  /** The lines to show to the model; nothing where a hook called it off. */
  async before({
    key,
    events,
    previousSummary,
    ...summary
  }: BeforeSummary): Promise<readonly ConversationLine[] | undefined> {
    let { conversation } = summary;
    for (const hook of this.#before) {
      const changed = await hook({ key: { ...key }, events: [...events], conversation, previousSummary });
      if (changed === false) return undefined;
      conversation = changed ?? conversation;
      if (!areLines(conversation)) throw new TypeError('it left something else than { author, text } of each line');
    }
    return conversation;
  }

  /** The text to keep; nothing where a hook threw it away. */
  async after({ key, toSeq, ...summary }: AfterSummary): Promise<string | undefined> {
    let { text } = summary;
    for (const hook of this.#after) {
      const changed = await hook({ key: { ...key }, text, toSeq });
      if (changed === false) return undefined;
      text = changed ?? text;
    }
    return text;
  }

  stored(key: SessionKey, summary: SessionSummary, onError: (error: unknown) => void): void {
    const tell = async (listener: StoredListener): Promise<void> => listener({ ...key }, { ...summary });
    for (const listener of this.#stored) tell(listener).catch(onError);
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
