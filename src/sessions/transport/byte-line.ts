interface Waiter {
  readonly bytes: number;
  readonly maxBytes: number;
  /** By `performance.now()`. */
  readonly since: number;
  start(): void;
}

/**
 * Counts bytes that are held, and lets nobody in beyond a limit. Who has to wait stands in line: a large request is not
 * overtaken by small ones. One request alone always gets in, however large it is.
 */
export class ByteLine {
  #held = 0;
  readonly #waiting = new Set<Waiter>();

  get held(): number {
    return this.#held;
  }

  /** Bytes that are waited for. */
  get wanted(): number {
    let wanted = 0;
    for (const { bytes } of this.#waiting) wanted += bytes;
    return wanted;
  }

  /** Since when the first in line waits, or `undefined` if nobody waits. */
  get waitingSince(): number | undefined {
    const [first] = this.#waiting;
    return first?.since;
  }

  /** Waits until there is room. Returns false if `signal` is aborted first. */
  async enter(bytes: number, maxBytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#waiting.size === 0 && this.#hasRoom(bytes, maxBytes)) {
      this.#held += bytes;
      return true;
    }
    return this.#wait(bytes, maxBytes, signal);
  }

  /** Changes what is held, and lets in those who now have room. */
  change(bytes: number): void {
    this.#held += bytes;
    this.#letIn();
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
        this.#letIn();
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  #letIn(): void {
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
