import type { SessionKey } from '../domain/values/ids.js';
import { LONGEST_TIMER_MS } from '../../config/setting.js';
import type { ReadGate } from '../operations/watch-session.js';
import { AnswerMemory, type OutgoingStream, READING_SECONDS } from './answer-memory.js';
import { type AllStreamLimits, type StreamLimits, streamLimits } from './stream-limits.js';

/** Asks `listEvents` for the ends of a log only: events may be large. */
export const NO_EVENTS = { beforeSeq: 1 } as const;

/** The stream has reached its maximum age. The reader reconnects and continues. */
export class StreamExpired extends Error {
  constructor(message = 'The stream is as old as streams may get. Connect again, after the last event that you have.') {
    super(message);
    this.name = 'StreamExpired';
  }
}

const SIGN_IN_ENDED =
  'The sign-in of this stream has ended. Connect again with a new one, after the last event that you have.';

/** The reader does not read its stream. It reconnects and continues. */
export class StreamStalled extends Error {
  constructor(seconds: number) {
    super(`Nothing was read for ${seconds} seconds. Connect again, after the last event that you have.`);
    this.name = 'StreamStalled';
  }
}

/**
 * The permission to read a stream. It ends at the maximum age, with the sign-in, or when the access rule revokes it.
 *
 * @example
 * const followed: StreamAccess = access.followStream({ action: 'read', target: 'session', ...key, request });
 * followed.signal.addEventListener('abort', () => response.destroy());
 */
export class StreamAccess {
  readonly #ended = new AbortController();
  readonly #age: NodeJS.Timeout | undefined;
  readonly #signIn: NodeJS.Timeout | undefined;
  readonly #forget: (() => void) | undefined;
  readonly #limits: AllStreamLimits;
  #next: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param recheck throws the error for the reader if access was revoked
   * @param client whose memory the stream takes, see `clientOf`
   * @param place what is read, for the log
   * @param until when the sign-in ends, in epoch milliseconds
   * @param onSignOut calls what it gets if the sign-in ends before, and returns what makes it forget that
   */
  constructor(
    private readonly recheck: () => Promise<void>,
    limits?: StreamLimits,
    private readonly client?: string,
    readonly place?: Partial<SessionKey>,
    until?: number,
    onSignOut?: (end: () => void) => () => void,
  ) {
    this.#limits = streamLimits(limits);
    this.#age = timerFor(this.#limits.maxAgeSeconds, () => this.#end(new StreamExpired()));
    const endSignIn = (): void => this.#end(new StreamExpired(SIGN_IN_ENDED));
    if (until !== undefined) this.#signIn = timerFor(Math.max(until - Date.now(), 1) / 1000, endSignIn);
    this.#forget = onSignOut?.(endSignIn);
    this.#scheduleCheck();
  }

  /** Aborted with the reason when the permission ends. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Call it when the stream ends. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#age);
    clearTimeout(this.#signIn);
    clearTimeout(this.#next);
    this.#forget?.();
  }

  /** Starts the stall timer. Call the returned function when the reader has read. */
  expectReading(): () => void {
    const { stallSeconds } = this.#limits;
    const timer = timerFor(stallSeconds, () => this.#end(new StreamStalled(stallSeconds)));
    return () => clearTimeout(timer);
  }

  /**
   * Admits the reads of this stream to the memory of all answers.
   *
   * @param copies of an event that the reader gets
   * @param onStall closes a connection that cannot be told that its stream ended
   */
  gateTo(connection: OutgoingStream, copies = 1, onStall?: () => void): ReadGate {
    return {
      enter: async (bytes, signal) => {
        const share = await AnswerMemory.ofProcess.reserve({
          connection,
          client: this.client,
          bytes: bytes * copies,
          maxBytes: this.#limits.maxBufferedBytes,
          onStall: () => {
            this.#end(new StreamStalled(READING_SECONDS));
            onStall?.();
          },
          signal,
        });
        return share && { resize: (read) => share.resize(read * copies), release: () => share.release() };
      },
    };
  }

  #scheduleCheck(): void {
    this.#next = timerFor(this.#limits.recheckSeconds, () => {
      this.recheck().then(
        () => this.#isClosed || this.#scheduleCheck(),
        (error: unknown) => this.#end(error),
      );
    });
  }

  #end(reason: unknown): void {
    this.close();
    this.#ended.abort(reason);
  }
}

function timerFor(seconds: number, work: () => void): NodeJS.Timeout | undefined {
  return seconds === 0 ? undefined : setTimeout(work, Math.min(seconds * 1000, LONGEST_TIMER_MS));
}
