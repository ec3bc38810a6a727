import type { SessionKey } from '../sessions/domain/ids.js';
import { RunningWork } from '../sessions/running-work.js';
import type { DueSummaries } from './due-summaries.js';
import type { SessionSummary } from './session-summary.js';
import { SummaryFailedError } from './summary-errors.js';
import type { SummaryWork } from './summary-work.js';

/** Between looks whether whoever summarises the session already is done. */
const BUSY_WAIT_MS = 100;
const CLOSING = 'the app is closing';

interface AskedSummariesOptions {
  readonly work: SummaryWork;
  readonly due: Pick<DueSummaries, 'dueSince'>;
  /** Of the model, for whoever is told that it took too long. */
  readonly name: string;
  readonly limitMs: number;
}

/** Summaries that somebody asked for, and waits for. */
export class AskedSummaries {
  readonly #running = new RunningWork(() => undefined);
  /** One for each that is under way: a signal that lives as long as the app would remember whatever was made of it. */
  readonly #endings = new Set<AbortController>();
  #isClosed = false;

  constructor(private readonly options: AskedSummariesOptions) {}

  write(key: SessionKey, force: boolean, signal: AbortSignal | undefined): Promise<SessionSummary | undefined> {
    return this.#running.track(this.#writeInTime(key, force, signal));
  }

  /** Begins nothing more, gives what is under way so long to end, then aborts it. */
  async close(limitMs: number): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#abort(this.#failure(CLOSING)), limitMs);
    await this.#running.finished();
    clearTimeout(timer);
  }

  async #writeInTime(key: SessionKey, force: boolean, signal?: AbortSignal): Promise<SessionSummary | undefined> {
    if (this.#isClosed) throw this.#failure(CLOSING);
    const { limitMs } = this.options;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(this.#failure(`it took longer than ${limitMs} ms`)), limitMs);
    this.#endings.add(ending);
    try {
      return await this.#writeInTurn(key, force, AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]));
    } finally {
      clearTimeout(timer);
      this.#endings.delete(ending);
    }
  }

  #abort(reason: SummaryFailedError): void {
    for (const ending of this.#endings) ending.abort(reason);
  }

  async #writeInTurn(key: SessionKey, force: boolean, signal: AbortSignal): Promise<SessionSummary | undefined> {
    const { work, due } = this.options;
    for (;;) {
      const outcome = await work.run(key, force, signal, due.dueSince(key));
      if (outcome.kind === 'done') return outcome.summary;
      await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
      signal.throwIfAborted();
    }
  }

  #failure(reason: string): SummaryFailedError {
    return new SummaryFailedError(this.options.name, reason);
  }
}
