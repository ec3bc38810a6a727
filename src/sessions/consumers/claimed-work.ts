import type { NoteOutcome, WorkEntry, WorkProgress } from '../domain/background/consumer-work.js';
import { claimAfter } from '../domain/background/work-claims.js';
import type { ConsumerStore } from '../storage/coordination.js';

const NOTES_PER_LEASE = 3;
const LOST: NoteOutcome = { kind: 'lost' };

/** Holds a claim while a worker handles events: saves its progress, one write at a time, and renews the claim. */
export class ClaimedWork {
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #progress: Pick<WorkProgress, 'seq' | 'tries'>;
  #last: Promise<NoteOutcome | undefined> = Promise.resolve(undefined);
  #notedAt: number;
  #claim: string;

  /** @param claimedAt when the claim was requested, by `performance.now()` */
  constructor(
    private readonly store: ConsumerStore,
    readonly entry: WorkEntry,
    private readonly leaseMs: number,
    claimedAt: number,
  ) {
    this.#progress = entry;
    this.#claim = entry.claim;
    this.#notedAt = claimedAt;
    this.#timer = setInterval(() => this.#renew(), leaseMs / NOTES_PER_LEASE);
  }

  /** Aborts when another worker may have the work. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether the claim is over. Also checks the clock of this process. */
  get isLost(): boolean {
    if (performance.now() - this.#notedAt >= this.leaseMs) this.#lose();
    return this.#lost.signal.aborted;
  }

  /** Time since the last saved progress. */
  get noteAgeMs(): number {
    return performance.now() - this.#notedAt;
  }

  /** Sets the progress that the next `note` saves. */
  advance(progress: Pick<WorkProgress, 'seq' | 'tries'>): void {
    this.#progress = progress;
  }

  /** Saves the progress. By default, the worker keeps the claim. */
  note(change: Partial<WorkProgress> = {}): Promise<NoteOutcome> {
    const progress = { ...this.#progress, goesOn: true, dueInMs: this.leaseMs, ...change };
    const noted = this.#last.catch(() => undefined).then(() => this.#write(progress));
    this.#last = noted;
    return noted;
  }

  /** Stops renewing. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last.catch(() => undefined);
  }

  async #write(progress: WorkProgress): Promise<NoteOutcome> {
    if (this.#lost.signal.aborted) return LOST;
    const requestedAt = performance.now();
    const outcome = await this.store.note({ ...this.entry, claim: this.#claim }, progress);
    if (outcome.kind === 'lost') {
      this.#lose();
    } else {
      this.#notedAt = requestedAt;
      this.#claim = claimAfter(this.#claim, progress);
    }
    return outcome;
  }

  /** Ignores a failure: the next renewal tries again, and an unrenewed claim expires. */
  #renew(): void {
    if (this.isLost) return;
    this.note().catch(() => undefined);
  }

  #lose(): void {
    clearInterval(this.#timer);
    this.#lost.abort(new Error('Another worker may have taken over this session.'));
  }
}
