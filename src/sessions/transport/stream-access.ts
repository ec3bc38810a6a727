import { LONGEST_TIMER_MS } from '../../config/session-settings.js';
import type { ReadGate } from '../operations/watch-session.js';
import { type OutgoingStream, READING_SECONDS, StreamMemory } from './stream-memory.js';

/** The limits of a stream. */
export interface StreamLimits {
  /** The maximum age of a stream. Then it ends, and its reader reconnects. Default: 3,600; 0 = no limit. */
  readonly maxAgeSeconds?: number | undefined;
  /** The interval at which the access rule is asked again. Default: 60; 0 = never. */
  readonly recheckSeconds?: number | undefined;
  /** How long a reader of server-sent events may take for one event. Default: 60; 0 = no limit. */
  readonly stallSeconds?: number | undefined;
  /**
   * Bytes of events that all streams of the process hold for their readers. Others wait, and then a reader has 5 seconds for
   * what it was sent. Default: 67,108,864; 0 = no limit.
   */
  readonly maxBufferedBytes?: number | undefined;
}

const MAX_AGE_SECONDS = 3_600;
const RECHECK_SECONDS = 60;
const STALL_SECONDS = 60;

/** Bytes that all streams of a process hold by default. */
export const MAX_BUFFERED_BYTES = 67_108_864;

/** Asks `listEvents` for the ends of a log only: events may be large. */
export const NO_EVENTS = { beforeSeq: 1 } as const;

/** The stream has reached its maximum age. The reader reconnects and continues. */
export class StreamExpired extends Error {
  constructor() {
    super('The stream is as old as streams may get. Connect again, after the last event that you have.');
    this.name = 'StreamExpired';
  }
}

/** The reader does not read its stream. It reconnects and continues. */
export class StreamStalled extends Error {
  constructor(seconds: number) {
    super(`Nothing was read for ${seconds} seconds. Connect again, after the last event that you have.`);
    this.name = 'StreamStalled';
  }
}

/** The permission to read a stream. It ends at the maximum age, or when the access rule revokes it. */
export class StreamAccess {
  readonly #ended = new AbortController();
  readonly #age: NodeJS.Timeout | undefined;
  readonly #recheckSeconds: number;
  readonly #stallSeconds: number;
  readonly #maxBufferedBytes: number;
  #next: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param recheck throws the error for the reader if access was revoked */
  constructor(
    private readonly recheck: () => Promise<void>,
    {
      maxAgeSeconds = MAX_AGE_SECONDS,
      recheckSeconds = RECHECK_SECONDS,
      stallSeconds = STALL_SECONDS,
      maxBufferedBytes = MAX_BUFFERED_BYTES,
    }: StreamLimits = {},
  ) {
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#stallSeconds = stallSeconds;
    this.#recheckSeconds = recheckSeconds;
    this.#age = timerFor(maxAgeSeconds, () => this.#end(new StreamExpired()));
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
    clearTimeout(this.#next);
  }

  /** Starts the stall timer. Call the returned function when the reader has read. */
  expectReading(): () => void {
    const timer = timerFor(this.#stallSeconds, () => this.#end(new StreamStalled(this.#stallSeconds)));
    return () => clearTimeout(timer);
  }

  /**
   * Admits the reads of this stream to the memory of all streams.
   *
   * @param copies of an event that the reader gets
   * @param onStall closes a connection that cannot be told that its stream ended
   */
  gateTo(connection: OutgoingStream, copies = 1, onStall?: () => void): ReadGate {
    return {
      enter: async (bytes, signal) => {
        const share = await StreamMemory.ofProcess.reserve({
          connection,
          bytes: bytes * copies,
          maxBytes: this.#maxBufferedBytes,
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
    this.#next = timerFor(this.#recheckSeconds, () => {
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
