import { assertWholeNumber } from '../../sessions/domain/input-checks.js';
import { LimitExceededError } from '../../sessions/domain/errors.js';
import { commitBytes } from '../../sessions/domain/batches.js';
import { type Brought, MOST_HELD_BYTES, broughtBytes, tempOf } from '../turn/queue-place.js';
import { RunLimitError } from '../errors/run-limit-error.js';

/** What messages may hold in memory while they wait. */
export interface WaitingLimits {
  /** The most `temp:` state of one message, as JSON. It is never stored, so the process keeps it. */
  readonly maxTempBytes: number;
  /** The most bytes of all that wait in this instance. */
  readonly maxWaitingBytes: number;
}

const DEFAULTS: WaitingLimits = { maxTempBytes: 65_536, maxWaitingBytes: 67_108_864 };

/** Checks the limits, and fills in missing ones. */
export function waitingLimits(given: Partial<Record<keyof WaitingLimits, number | undefined>>): WaitingLimits {
  const { maxTempBytes = DEFAULTS.maxTempBytes, maxWaitingBytes = DEFAULTS.maxWaitingBytes } = given;
  const range = { from: 0, to: Number.MAX_SAFE_INTEGER };
  assertWholeNumber(maxTempBytes, { path: 'maxTempBytes', ...range });
  assertWholeNumber(maxWaitingBytes, { path: 'maxWaitingBytes', ...range });
  return { maxTempBytes, maxWaitingBytes };
}

/**
 * The memory of the messages that wait in an instance, also of those whose clients have gone. One that has no room is refused before it
 * is stored, so its client can send it again.
 */
export class WaitingMemory {
  #held = 0;

  constructor(private readonly limits: WaitingLimits) {}

  /**
   * Counts what a request holds until it is released.
   *
   * @param isInLog whether its message is in the log while it waits
   */
  reserve(request: Partial<Brought>, isInLog: boolean): () => void {
    const { maxTempBytes, maxWaitingBytes } = this.limits;
    const temp = tempOf(request.stateDelta);
    const tempBytes = temp ? commitBytes(temp) : 0;
    if (tempBytes > maxTempBytes) {
      const what = `the temp: keys of a message that waits may have ${maxTempBytes} bytes, these have ${tempBytes}`;
      throw new LimitExceededError(`${what}. Send less, or keep it in the state of the session`, 'stateDelta');
    }
    const brought = broughtBytes(request);
    const bytes = isInLog && brought > MOST_HELD_BYTES ? tempBytes : brought;
    if (this.#held + bytes > maxWaitingBytes) {
      throw new RunLimitError({ scope: 'process', unit: 'bytes', limit: maxWaitingBytes });
    }
    this.#held += bytes;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held -= bytes;
      isHeld = false;
    };
  }
}
