import { once } from 'node:events';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { isRewind } from '../../sessions/domain/event/event-inspection.js';
import { TurnLostError } from '../../sessions/domain/errors/errors.js';
import { queueEntryOf, stopRequestOf, withdrawnBy } from './control-events.js';
import { isInterrupting } from './run-policy.js';
import { type QueuePlace, toQueuePlace } from './queue-place.js';

type StopReason = 'stopped' | 'interrupted' | 'handed over';

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

/** What others want of the invocation that has the turn: that it ends, or takes their messages. */
export class TurnNews {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #messages: readonly QueuePlace[] = [];

  constructor(
    private readonly sessionId: string,
    private readonly invocationId: string,
  ) {}

  /** Aborts when the invocation is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Those that came with `merge`, and wait. */
  get messages(): readonly QueuePlace[] {
    return this.#messages;
  }

  /** An event that somebody else appended. */
  notice(event: LoggedEvent): void {
    // It has ended the turn, so nothing more can be stored.
    if (isRewind(event)) this.lose(new TurnLostError(this.sessionId));
    const withdrawn = withdrawnBy(event);
    if ([stopRequestOf(event)?.invocationId, withdrawn].includes(this.invocationId)) this.stop('stopped');
    const entry = queueEntryOf(event);
    if (entry && isInterrupting(entry.policy)) this.stop('interrupted');
    this.forget(this.#messages.filter(({ invocationId }) => invocationId === withdrawn));
    if (entry?.policy === 'merge') this.#messages = [...this.#messages, toQueuePlace(entry)];
  }

  /** Nothing more can be stored. */
  lose(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** These messages wait no longer. */
  forget(places: readonly QueuePlace[]): void {
    this.#messages = this.#messages.filter((place) => !places.includes(place));
  }

  /** @param mayReturn whether the handler may be about to return */
  stop(why: StopReason, mayReturn = false): void {
    const stop = (): void => this.#controller.abort(new InvocationStop(why));
    if (mayReturn) this.#timer ??= setTimeout(stop, TIME_TO_RETURN_MS);
    else stop();
  }

  /** The invocation has ended by itself. */
  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Waits for the work, or until the signal aborts. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const settled = new AbortController();
  try {
    await Promise.race([work, once(signal, 'abort', { signal: settled.signal })]);
  } finally {
    settled.abort();
  }
}
