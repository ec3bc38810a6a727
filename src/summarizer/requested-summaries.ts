import type { SessionKey } from '../sessions/domain/values/ids.js';
import { TaskTracker } from '../sessions/lifecycle.js';
import type { SessionSummary } from './session-summary.js';
import type { DueTrigger, SummaryAgenda } from './summary-agenda.js';
import { SummaryFailedError } from './summary-errors.js';
import type { SummaryWorker } from './summary-worker.js';

/** Pause between two attempts to get the lease of a session that is being summarised. */
const BUSY_RETRY_MS = 100;
const CLOSING = 'the app is closing';

interface RequestedSummariesOptions {
  readonly worker: Pick<SummaryWorker, 'summarize'>;
  readonly agenda: Pick<SummaryAgenda, 'triggerOf'>;
  /** The name of the model, for error messages. */
  readonly modelName: string;
  readonly limitMs: number;
}

/** How a summary is requested. */
interface Requested {
  readonly force: boolean;
  readonly branch?: string | undefined;
  readonly dueSince?: DueTrigger | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Summaries that a caller requests and waits for. They do not go through the agenda. */
export class RequestedSummaries {
  readonly #running = new TaskTracker(() => undefined);
  /** One controller per request: a signal that lives as long as the app would keep a reference to every request. */
  readonly #endings = new Set<AbortController>();
  #isClosed = false;

  constructor(private readonly options: RequestedSummariesOptions) {}

  create(key: SessionKey, requested: Requested): Promise<SessionSummary | undefined> {
    return this.#running.track(this.#createInTime(key, requested));
  }

  /** Accepts nothing more, waits up to `limitMs` for running requests, then aborts them. */
  async close(limitMs: number): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => {
      for (const ending of this.#endings) ending.abort(this.#failure(CLOSING));
    }, limitMs);
    await this.#running.whenIdle();
    clearTimeout(timer);
  }

  async #createInTime(key: SessionKey, { signal, ...requested }: Requested): Promise<SessionSummary | undefined> {
    if (this.#isClosed) throw this.#failure(CLOSING);
    const { limitMs } = this.options;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(this.#failure(`it took longer than ${limitMs} ms`)), limitMs);
    this.#endings.add(ending);
    try {
      return await this.#create(key, requested, AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]));
    } finally {
      clearTimeout(timer);
      this.#endings.delete(ending);
    }
  }

  async #create(
    key: SessionKey,
    { force, branch, dueSince }: Requested,
    signal: AbortSignal,
  ): Promise<SessionSummary | undefined> {
    const { worker, agenda } = this.options;
    for (;;) {
      const trigger = dueSince ?? agenda.triggerOf(key);
      const outcome = await worker.summarize(key, { force, branch, signal, trigger });
      if (outcome.kind === 'done') return outcome.summary;
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
      signal.throwIfAborted();
    }
  }

  #failure(reason: string): SummaryFailedError {
    return new SummaryFailedError(this.options.modelName, reason);
  }
}
