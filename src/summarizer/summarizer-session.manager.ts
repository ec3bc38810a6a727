import { Logger } from '@nestjs/common';
import { SessionNotFoundError } from '../sessions/domain/errors.js';
import { type SessionKey, checkedSessionKey } from '../sessions/domain/ids.js';
import { optionalCount } from '../sessions/domain/optional-count.js';
import { type SessionReference, referencedKey } from '../sessions/domain/session.js';
import { loggedEvent } from '../sessions/domain/logged-event.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { cappedText } from './models/capped-text.js';
import { AskedSummaries } from './asked-summaries.js';
import { DueSummaries } from './due-summaries.js';
import { HeldCuts } from './held-cuts.js';
import { type ListSummariesRequest, listSummaries } from './list-summaries.js';
import { type SessionSummary, summaryOf } from './session-summary.js';
import { type SummarizerDependencies, type SummarizerOptions, checkedOptions } from './summarizer-options.js';
import { SummaryFailedError } from './summary-errors.js';
import { SummaryHooks } from './summary-hooks.js';
import { SummaryPrompt } from './summary-prompt.js';
import { SummaryWork } from './summary-work.js';
import { SummaryWriter } from './summary-writer.js';

/** Which session to summarise. */
export interface CreateSummaryRequest {
  /** The session, or just `{ id, appName, userId }`. */
  readonly session: SessionReference;
  /** Whether to summarise what there is, also where no threshold is met. */
  readonly force?: boolean | undefined;
  /** Ends it early; nothing is written then. */
  readonly signal?: AbortSignal | undefined;
}

/** What the summaries of this process have come to. */
export interface SummaryCounts {
  readonly waiting: number;
  readonly running: number;
  readonly stored: number;
  readonly failed: number;
}

const LONGEST_REASON = 500;
const NO_THRESHOLD =
  'All thresholds are 0 and there are no conditions: no summary will be written by itself. Where that is meant, set autoSummarize to false.';

/**
 * Keeps conversations short: when a threshold is met after an append, the oldest events get a summary in their place.
 * The events stay in the log, and no append waits for any of it.
 *
 * @example
 * const summaries = new SummarizerSessionManager({ sessions, storage }, { events: 40, model });
 * await summaries.createSessionSummary({ session, force: true });
 */
export class SummarizerSessionManager {
  /** What others have to say about summaries. */
  readonly hooks = new SummaryHooks();
  /** How often to look for what is due and nobody saw to; 0 where nobody has to. */
  readonly sweepIntervalMs: number;
  readonly #logger = new Logger(SummarizerSessionManager.name);
  readonly #storage: SessionStorage;
  readonly #asked: AskedSummaries;
  readonly #due: DueSummaries;
  readonly #shutdownMs: number;
  #stored = 0;
  #failed = 0;

  constructor({ sessions, storage }: SummarizerDependencies, options?: SummarizerOptions) {
    const checked = checkedOptions(options);
    const { hooks } = this;
    const warn = (what: string, error: unknown): void => this.#warn(what, error);
    this.#storage = storage;
    this.sweepIntervalMs = checked.autoSummarize ? checked.sweepIntervalSeconds * 1000 : 0;
    const timeoutMs = checked.timeoutSeconds * 1000;
    this.#shutdownMs = checked.shutdownSeconds * 1000;
    const prompt = new SummaryPrompt(checked.prompt);
    const onListenerError = (error: unknown): void => this.#log('A listener to stored summaries failed', error);
    const held = new HeldCuts();
    const writer = new SummaryWriter({
      ...checked,
      sessions,
      storage,
      prompt,
      hooks,
      timeoutMs,
      onListenerError,
      onHeld: held.hold.bind(held),
    });
    const onLeaseError = (error: unknown): void => this.#log('The lease of a summary failed', error);
    const work = new SummaryWork({ ...checked, storage, writer, timeoutMs, onLeaseError });
    this.#due = new DueSummaries({ ...checked, sessions, storage, work, held, warn });
    this.#asked = new AskedSummaries({ work, due: this.#due, name: checked.model.name, limitMs: 2 * timeoutMs });
    hooks.onStored(() => void this.#stored++);
    if (checked.autoSummarize && !checked.hasThreshold) this.#logger.warn(NO_THRESHOLD);
    if (checked.autoSummarize) this.#due.start();
  }

  /**
   * Summarises a session now: if it is due, or, with `force`, whatever there is beyond the newest events. Answers what it
   * wrote, or nothing where there was nothing to do. Fails with `SummaryFailedError` where the model does.
   *
   * @example const summary = await summaries.createSessionSummary({ session, force: true });
   */
  async createSessionSummary({
    session,
    force = false,
    signal,
  }: CreateSummaryRequest): Promise<SessionSummary | undefined> {
    const key = referencedKey(session);
    if (!(await this.#storage.read({ key }))) throw new SessionNotFoundError(key.sessionId);
    try {
      return await this.#asked.write(key, force, signal);
    } catch (error) {
      if (error instanceof SummaryFailedError) this.#failed++;
      throw error;
    }
  }

  /**
   * The summary that readers of a session see, if there is one.
   * @example const summary = await summaries.getSessionSummary({ appName: 'shop', userId: 'ann', sessionId });
   */
  async getSessionSummary(request: SessionKey): Promise<SessionSummary | undefined> {
    const key = checkedSessionKey(request);
    const read = await this.#storage.read({ key, withSummary: true });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    return read.summary && summaryOf(key.sessionId, loggedEvent(read.summary), read.record.marks.summarySeq);
  }

  /**
   * The summaries that the log keeps, oldest first; those that were replaced or rewound are not in force.
   * @example const all = await summaries.listSummaries({ appName: 'shop', userId: 'ann', sessionId });
   */
  async listSummaries({ afterSeq, limit, ...request }: ListSummariesRequest): Promise<SessionSummary[]> {
    const key = checkedSessionKey(request);
    const part = { afterSeq: optionalCount(afterSeq, 'afterSeq'), limit: optionalCount(limit, 'limit') };
    const summaries = await listSummaries(this.#storage, { ...key, ...part });
    if (!summaries) throw new SessionNotFoundError(key.sessionId);
    return summaries;
  }

  /**
   * Looks for what is due and nobody saw to. The module does so by schedule.
   * @example await summaries.sweep();
   */
  async sweep(signal?: AbortSignal): Promise<number> {
    return this.#due.sweep(signal);
  }

  /** For whoever watches over the process. */
  get counts(): SummaryCounts {
    return { ...this.#due.counts, stored: this.#stored, failed: this.#failed };
  }

  /**
   * Waits until nothing is under way in this process.
   * @example await summaries.whenIdle(); // in a test
   */
  async whenIdle(): Promise<void> {
    await this.#due.whenIdle();
  }

  /**
   * Takes nothing more that is asked for, and gives what was some time to end; what comes of appends goes on.
   * @example await summaries.finish(); // while the last requests are answered
   */
  async finish(): Promise<void> {
    await this.#asked.close(this.#shutdownMs);
  }

  /**
   * Begins nothing more and gives what is under way some time to end. What is left is done later, by whoever is there.
   * @example await summaries.close();
   */
  async close(): Promise<void> {
    await Promise.all([this.#due.close(this.#shutdownMs), this.finish()]);
  }

  #warn(what: string, error: unknown): void {
    this.#failed++;
    this.#log(what, error);
  }

  /** What a model of the app's own says of its failure may have any length, and many lines. */
  #log(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#logger.warn(`${what}: ${cappedText(reason.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), LONGEST_REASON)}`);
  }
}
