interface Waiter {
  readonly bytes: number;
  readonly maxBytes: number;
  /** By `performance.now()`. */
  readonly since: number;
  start(): void;
}

/**
 * A FIFO semaphore for bytes. A large request is not overtaken by smaller ones that came later. If no bytes are held, a
 * request of any size is admitted.
 */
export class ByteSemaphore {
  #held = 0;
  readonly #waiting = new Set<Waiter>();

  get held(): number {
    return this.#held;
  }

  /** The bytes of all waiting requests. */
  get wanted(): number {
    let wanted = 0;
    for (const { bytes } of this.#waiting) wanted += bytes;
    return wanted;
  }

  /** When the oldest waiting request came, or `undefined` if none waits. */
  get waitingSince(): number | undefined {
    const [first] = this.#waiting;
    return first?.since;
  }

  /** Waits until the bytes are available. Returns false if `signal` is aborted first. */
  async acquire(bytes: number, maxBytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#waiting.size === 0 && this.#hasRoom(bytes, maxBytes)) {
      this.#held += bytes;
      return true;
    }
    return this.#wait(bytes, maxBytes, signal);
  }

  /** Changes the held bytes, and admits waiting requests that now fit. */
  change(bytes: number): void {
    this.#held += bytes;
    this.#admitWaiting();
  }

  #wait(bytes: number, maxBytes: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const start = (): void => {
        signal.removeEventListener('abort', cancel);
        resolve(true);
      };
      const waiter: Waiter = { bytes, maxBytes, since: performance.now(), start };
      const cancel = (): void => {
        this.#waiting.delete(waiter);
        resolve(false);
        this.#admitWaiting();
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  #admitWaiting(): void {
    for (const waiter of this.#waiting) {
      if (!this.#hasRoom(waiter.bytes, waiter.maxBytes)) return;
      this.#waiting.delete(waiter);
      this.#held += waiter.bytes;
      waiter.start();
    }
  }

  #hasRoom(bytes: number, maxBytes: number): boolean {
    return this.#held <= 0 || this.#held + bytes <= maxBytes;
  }
}
