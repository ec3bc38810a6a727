import type { NoteOutcome, WorkEntry, WorkProgress } from '../domain/consumer-work.js';
import type { ConsumerStore } from '../storage/coordination.js';

const NOTES_PER_LEASE = 3;
const LOST: NoteOutcome = { kind: 'lost' };

/** Holds a claim while a worker works: notes progress one after the other, and renews the claim. */
export class ClaimedWork {
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #progress: Pick<WorkProgress, 'seq' | 'tries'>;
  #last: Promise<NoteOutcome | undefined> = Promise.resolve(undefined);
  #notedAt: number;

  /** @param claimedAt when the claim was requested, by `performance.now()` */
  constructor(
    private readonly store: ConsumerStore,
    readonly entry: WorkEntry,
    private readonly leaseMs: number,
    claimedAt: number,
  ) {
    this.#progress = entry;
    this.#notedAt = claimedAt;
    this.#timer = setInterval(() => this.#renew(), leaseMs / NOTES_PER_LEASE);
  }

  /** Aborts when another worker may have the work. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether the claim is over, by the clock of this process too. */
  get isLost(): boolean {
    if (performance.now() - this.#notedAt >= this.leaseMs) this.#lose();
    return this.#lost.signal.aborted;
  }

  /** How long ago the claim was noted. */
  get noteAgeMs(): number {
    return performance.now() - this.#notedAt;
  }

  /** Keeps the progress for the next note. */
  advance(progress: Pick<WorkProgress, 'seq' | 'tries'>): void {
    this.#progress = progress;
  }

  /** Notes the progress, and goes on unless told otherwise. */
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
    const askedAt = performance.now();
    const outcome = await this.store.note(this.entry, progress);
    if (outcome.kind === 'lost') this.#lose();
    else this.#notedAt = askedAt;
    return outcome;
  }

  /** A failed renewal is repeated; the claim ends by itself. */
  #renew(): void {
    if (this.isLost) return;
    this.note().catch(() => undefined);
  }

  #lose(): void {
    clearInterval(this.#timer);
    this.#lost.abort(new Error('Another worker may have taken over this session.'));
  }
}
