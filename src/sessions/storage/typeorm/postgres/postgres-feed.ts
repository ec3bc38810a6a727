import { setTimeout as delay } from 'node:timers/promises';
import { Hearers } from '../../hearers.js';
import type { ChangeFeed, HearOfLog, Listening, LogReference } from '../../session-changes.js';
import { type EarOptions, PostgresEar } from './postgres-ear.js';

const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 2_000;

/** What announcements say, heard over one connection that is there while somebody listens, and comes back by itself. */
export class PostgresFeed implements ChangeFeed {
  readonly #hearers = new Hearers();
  #ear: PostgresEar | undefined;
  #isLive = false;
  /** Ends the keeping of a connection. */
  #stop: AbortController | undefined;

  constructor(private readonly options: EarOptions) {}

  listen({ incarnation }: LogReference, hear: HearOfLog): Listening {
    const hearIt = (seq?: string): void => hear(seq === undefined ? undefined : Number(seq));
    this.#hearers.add(incarnation, hearIt);
    if (!this.#stop) {
      this.#stop = new AbortController();
      void this.#keepConnected(this.#stop.signal);
    }
    const isLive = (): boolean => this.#isLive;
    return {
      get isLive() {
        return isLive();
      },
      stop: () => {
        this.#hearers.remove(incarnation, hearIt);
        if (this.#hearers.size === 0) this.close();
      },
    };
  }

  close(): void {
    this.#isLive = false;
    this.#stop?.abort();
    this.#stop = undefined;
    this.#ear?.close();
    this.#ear = undefined;
  }

  async #keepConnected(stop: AbortSignal): Promise<void> {
    for (let failures = 0; !stop.aborted; failures++) {
      try {
        const ear = new PostgresEar(this.options, (payload) => this.#tell(payload));
        this.#ear = ear;
        // A pooler gives the connection to others between transactions; then positions are all there is.
        if (!(await ear.open())) return ear.close();
        if (stop.aborted) return;
        failures = 0;
        this.#isLive = true;
        this.#hearers.tellAll();
        await ear.ended;
      } catch {
        // Whoever waits looks at its log meanwhile, and hears what is wrong.
      }
      if (stop.aborted) return;
      this.#isLive = false;
      this.#ear?.close();
      const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** failures, LONGEST_BACKOFF_MS);
      await delay(backoff * (0.5 + Math.random() / 2), undefined, { signal: stop, ref: false }).catch(() => undefined);
    }
  }

  #tell(payload: string): void {
    for (const said of payload.split(',')) {
      const [incarnation = '', seq] = said.split(':');
      this.#hearers.tell(incarnation, seq);
    }
  }
}
