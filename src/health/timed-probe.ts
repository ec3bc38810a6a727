import { SessionsError } from '../sessions/domain/errors.js';

/** What a probe came to; `problem` is for everybody to read. */
export interface ProbeResult {
  readonly isUp: boolean;
  readonly problem?: string | undefined;
  readonly code?: string | undefined;
  /** For the log. */
  readonly error?: unknown;
}

/** A probe with a time limit. All who ask while it runs get the same answer, so that probes do not pile up at a store that hangs. */
export class TimedProbe {
  #running: Promise<ProbeResult> | undefined;

  constructor(private readonly probe: () => Promise<void>) {}

  run(timeLimitMs: number): Promise<ProbeResult> {
    this.#running ??= this.#ask(timeLimitMs).finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #ask(timeLimitMs: number): Promise<ProbeResult> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<ProbeResult>((resolve) => {
      const problem = `There was no answer within ${timeLimitMs} ms.`;
      timer = setTimeout(() => resolve({ isUp: false, problem, code: 'STORE_UNAVAILABLE' }), timeLimitMs);
    });
    try {
      return await Promise.race([this.#result(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #result(): Promise<ProbeResult> {
    try {
      await this.probe();
      return { isUp: true };
    } catch (error) {
      return { isUp: false, error, ...toldOf(error) };
    }
  }
}

/** Errors of this package say nothing that is secret; of others nobody knows. */
function toldOf(error: unknown): Pick<ProbeResult, 'problem' | 'code'> {
  if (error instanceof SessionsError) return { problem: error.message, code: error.code };
  return { problem: 'It failed; the log says why.', code: 'INTERNAL' };
}
