import type { SessionService } from '../sessions/session.service.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { linesOf, shortenedLines } from './conversation/conversation-lines.js';
import { type Stretch, type StretchLimits, readStretch } from './conversation/read-conversation.js';
import { tokenCount } from './models/calls/model-answer.js';
import { withinTime } from './models/calls/within-time.js';
import type { SummaryAnswer, SummaryModel, SummaryRequest } from './models/summary-model.js';
import { ModelTurns } from './model-turns.js';
import { type SessionSummary, type SummaryDraft, summaryOf, textOfSummary } from './session-summary.js';
import { storeSummary } from './store-summary.js';
import { SummaryFailedError } from './summary-errors.js';
import type { AfterSummary, SummaryHooks } from './summary-hooks.js';
import type { SummaryPrompt } from './summary-prompt.js';
import { keptText } from './summary-text.js';

export interface SummaryWriterOptions extends StretchLimits {
  readonly sessions: SessionService;
  readonly storage: SessionStorage;
  readonly model: SummaryModel;
  readonly prompt: SummaryPrompt;
  readonly hooks: SummaryHooks;
  readonly maxSummaryLength: number;
  /** Summaries that are written at the same time, whoever wants them. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** Told of a listener to stored summaries that failed. */
  readonly onListenerError: (error: unknown) => void;
}

export type WritingOutcome =
  | {
      readonly kind: 'written';
      readonly summary: SessionSummary;
      /** Whether there is more to summarise than a model takes at once. */
      readonly isPart: boolean;
    }
  /** By a hook, or because there is nothing to read in what is due. */
  | { readonly kind: 'called off' }
  /** Nothing is left to summarise, or somebody rewound it or was faster. */
  | { readonly kind: 'nothing' };

const NOTHING = { kind: 'nothing' } as const;
const CALLED_OFF = { kind: 'called off' } as const;

/** Writes one summary: reads what it is to stand for, asks the model, and keeps the answer as an event. */
export class SummaryWriter {
  readonly #turns: ModelTurns;

  constructor(private readonly options: SummaryWriterOptions) {
    this.#turns = new ModelTurns(options.concurrency);
  }

  write(key: SessionKey, signal: AbortSignal): Promise<WritingOutcome> {
    return this.#turns.take(signal, () => this.#write(key, signal));
  }

  async #write(key: SessionKey, signal: AbortSignal): Promise<WritingOutcome> {
    const stretch = await readStretch(this.options.storage, key, this.options);
    if (!stretch) return NOTHING;
    const request = await this.#requestFor(key, stretch, signal);
    if (!request) return CALLED_OFF;
    const startedAt = performance.now();
    const answer = await this.#inTime('', signal, (ended) => this.options.model.summarize(request, { signal: ended }));
    const answered = this.#textOf(answer);
    const draft = this.#draftOf(stretch, answer, performance.now() - startedAt);
    const text = await this.#textAfterHooks({ key, text: answered, toSeq: draft.toSeq }, signal);
    if (text === undefined) return CALLED_OFF;
    // Whoever lost the lease leaves it to whoever has it.
    signal.throwIfAborted();
    const stored = await storeSummary(this.options.sessions, stretch, text, draft);
    if (!stored) return NOTHING;
    const summary = summaryOf(key.sessionId, stored, stored.seq);
    this.options.hooks.stored(key, summary, this.options.onListenerError);
    return { kind: 'written', summary, isPart: stretch.isPart };
  }

  async #requestFor(
    key: SessionKey,
    { events, previous }: Stretch,
    signal: AbortSignal,
  ): Promise<SummaryRequest | undefined> {
    const { hooks, maxInputLength, maxSummaryLength, prompt } = this.options;
    const previousSummary = previous && textOfSummary(previous);
    const lines = shortenedLines(linesOf(events), maxInputLength);
    const before = { key, events, conversation: lines, previousSummary };
    const conversation = await this.#inTime('a hook before it failed: ', signal, () => hooks.before(before));
    if (!conversation || conversation.length === 0) return undefined;
    const parts = { conversation, previousSummary, maxSummaryLength };
    return { ...parts, prompt: prompt.textFor(parts) };
  }

  /** However a model or a hook behaves, this ends in time. */
  async #inTime<Result>(
    what: string,
    outer: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { model, timeoutMs } = this.options;
    try {
      return await withinTime({ limitMs: timeoutMs, signal: outer }, work);
    } catch (error) {
      outer.throwIfAborted();
      const reason = error instanceof Error ? error.message : 'it threw';
      throw new SummaryFailedError(model.name, what + reason, { cause: error });
    }
  }

  /** Whatever a model of the app's own answers. */
  #textOf(answer: SummaryAnswer | null | undefined): string {
    const { model } = this.options;
    const { text, unfinished } = answer ?? {};
    if (unfinished !== undefined) throw new SummaryFailedError(model.name, `it did not finish (${unfinished})`);
    return this.#kept(text, 'its answer was empty');
  }

  async #textAfterHooks(answer: AfterSummary, signal: AbortSignal): Promise<string | undefined> {
    const { hooks } = this.options;
    const text = await this.#inTime('a hook after it failed: ', signal, () => hooks.after(answer));
    return text === undefined ? undefined : this.#kept(text, 'a hook left nothing of its answer');
  }

  #kept(text: unknown, reason: string): string {
    const { model, maxSummaryLength } = this.options;
    const kept = keptText(text, maxSummaryLength);
    if (kept === undefined) throw new SummaryFailedError(model.name, reason);
    return kept;
  }

  #draftOf(
    { record, events, left, isPart, previous }: Stretch,
    answer: SummaryAnswer,
    durationMs: number,
  ): SummaryDraft {
    const { model, prompt } = this.options;
    const [inputTokens, outputTokens] = [tokenCount(answer.inputTokens), tokenCount(answer.outputTokens)];
    return {
      // The summary that a fork began with stands for nothing of its log.
      fromSeq: Math.max(1, previous?.actions.compaction?.fromSeq ?? events[0]?.seq ?? 0),
      toSeq: events.at(-1)?.seq ?? 0,
      model: model.name,
      promptVersion: prompt.version,
      originalEventCount: events.length + left + (previous ? 1 : 0),
      compressedEventCount: 1 + left,
      durationMs: Math.round(durationMs),
      ...(!isPart && { readToSeq: record.lastSeq }),
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    };
  }
}
