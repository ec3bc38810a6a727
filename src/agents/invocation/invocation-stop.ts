import type { Interruption } from './invocation-tail.js';

type StopReason = Extract<Interruption, 'stopped' | 'interrupted'> | 'handed over';

const MESSAGES: Readonly<Record<StopReason, string>> = {
  stopped: 'The run was stopped',
  interrupted: 'The run was interrupted by a new message',
  'handed over': 'The run was handed over, since its instance closes',
};

/** Why an invocation is to end. The reason of its signal. */
export class InvocationStop extends Error {
  constructor(readonly why: StopReason) {
    super(MESSAGES[why]);
    this.name = 'AbortError';
  }
}

/** Whether the instance closes: what runs or waits is left to others, and not stopped. */
export function isHandOver({ reason }: AbortSignal): boolean {
  return reason instanceof InvocationStop && reason.why === 'handed over';
}

/** How long a handler that has given a final response may take to return before it counts as being at work. */
const TIME_TO_RETURN_MS = 100;

/** Ends an invocation from outside. */
export class Stopping {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** @param mayReturn whether its handler may be about to return */
  stop(why: InvocationStop['why'], mayReturn: boolean): void {
    const stop = (): void => this.abort(new InvocationStop(why));
    if (mayReturn) this.#timer ??= setTimeout(stop, TIME_TO_RETURN_MS);
    else stop();
  }

  /** The invocation has ended by itself. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
