import type { StoredEvent } from '../domain/stored/commit.js';
import { type WorkProgress, toStoredProblem } from '../domain/background/consumer-work.js';
import { afterFailure, retryPauseMs } from '../domain/background/consumer-retries.js';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import { isInRanges } from '../domain/values/seq-ranges.js';
import { loggedEvent } from '../domain/stored/stored-json.js';
import { type Care, careOf } from '../domain/background/work-claims.js';
import { IncarnationReads } from '../operations/incarnation-reads.js';
import { PageReader } from '../operations/list-events.js';
import type { SessionStorage } from '../storage/session-storage.js';
import type { ClaimedWork } from './claimed-work.js';
import type { CheckedConsumeOptions } from './consume-options.js';
import type { ReadFailures } from './read-failures.js';

export interface WorkTaskOptions {
  readonly storage: SessionStorage;
  readonly work: ClaimedWork;
  readonly consumer: CheckedConsumeOptions;
  /** Events that were appended before this time are skipped. */
  readonly startTime: number | undefined;
  readonly readFailures: ReadFailures;
  /** Ends the task after the current event. */
  readonly stopping: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

/** Limits the memory of a task, and what a crash leaves in doubt. A larger event is read alone. */
const PAGE = 64;
const PAGE_BYTES = 262_144;
/** After a crash, events since the last saved progress are handled again. */
const NOTE_EVERY_MS = 250;
const CRASHED = 'The process ended, or lost the session, while it handled the event.';

/**
 * Passes the events of one work entry to the handler, one at a time.
 *
 * After a crash it saves its progress after each event of the next page, which holds all that the crash left in doubt. So
 * an event that crashes the process again is identified, and becomes a dead letter. Then the work is released: it has passed.
 */
export class WorkTask {
  #seq: number;
  #upTo: number;
  #tries: number;
  #isOver = false;
  readonly #care: Care;
  /** Whether its worker may have ended while it handled the next event. */
  #isNextInDoubt: boolean;
  #hasBegunAlone = false;

  constructor(private readonly options: WorkTaskOptions) {
    const { seq, upTo, tries, claim } = options.work.entry;
    this.#seq = seq;
    this.#upTo = upTo;
    this.#tries = tries;
    this.#care = careOf(claim);
    this.#isNextInDoubt = this.#care !== 'usual';
  }

  async run(): Promise<void> {
    const { work, readFailures } = this.options;
    try {
      await this.#skipOldEvents();
      while (!this.#isOver && this.#seq < this.#upTo) await this.#handlePage();
      readFailures.forget(work.entry);
    } catch (error) {
      // The session was deleted or has expired.
      if (error instanceof SessionNotFoundError) await work.note({ seq: Number.MAX_SAFE_INTEGER, tries: 0 });
      else await this.#failToRead(error);
    } finally {
      await work.end();
    }
  }

  /** Skips events that are older than the consumer. Saves this, so that a crash counts as a try of the first newer one. */
  async #skipOldEvents(): Promise<void> {
    const { storage, work, startTime: since } = this.options;
    if (since === undefined) return;
    const { key, incarnation } = work.entry;
    const ranges = [{ from: this.#seq + 1, to: this.#upTo }];
    const read = await storage.read({ key, window: { ranges, since, limit: 1, keep: 'oldest' } });
    if (read?.record.incarnation !== incarnation) throw new SessionNotFoundError(key.sessionId);
    const first = read.events.find(({ seq }) => isInRanges(seq, ranges));
    const last = (first?.seq ?? this.#upTo + 1) - 1;
    if (last <= this.#seq) return;
    this.#moveTo(last);
    await this.#note();
  }

  async #handlePage(): Promise<void> {
    const { storage, work, startTime = 0 } = this.options;
    const { key, incarnation } = work.entry;
    const reader = new PageReader(new IncarnationReads(storage, key, incarnation), 'asc');
    const page = await reader.read({ from: this.#seq + 1, to: this.#upTo }, PAGE, PAGE_BYTES);
    for (const event of page) {
      if (event.appendedAt >= startTime && !(await this.#handle(event))) return;
      this.#moveTo(event.seq);
      if (this.#care !== 'usual' || work.noteAgeMs > NOTE_EVERY_MS) await this.#note();
      if (this.#isOver) return;
    }
    // The other events were trimmed.
    if (page.length === 0) this.#moveTo(this.#upTo);
    if (this.#care === 'usual') await this.#note();
    else await this.#release({ dueInMs: 0 });
  }

  /** Returns whether the next event may follow. */
  async #handle(stored: StoredEvent): Promise<boolean> {
    const { work, consumer, stopping } = this.options;
    if (stopping.aborted) return this.#release({ dueInMs: 0, isUntried: true });
    if (work.isLost) return this.#stop();
    if (this.#tries >= consumer.maxTries) return this.#addDeadLetter(stored.seq, work.entry.problem || CRASHED);
    if (this.#care === 'alone' && !(await this.#beginAlone())) return false;
    const { key, incarnation } = work.entry;
    try {
      await consumer.handler({
        key: { ...key },
        event: loggedEvent(stored),
        incarnation,
        idempotencyKey: `${incarnation}:${stored.seq}`,
        attempt: this.#tries + (this.#isNextInDoubt ? 2 : 1),
        signal: work.signal,
      });
      return true;
    } catch (error) {
      return this.#fail(stored.seq, error);
    }
  }

  async #fail(seq: number, error: unknown): Promise<boolean> {
    const { consumer, onFailure } = this.options;
    this.#tries++;
    const next = afterFailure(this.#tries, consumer, Math.random());
    const then = next.isDead ? 'it is a dead letter now' : `try ${this.#tries + 1} in ${next.pauseMs} ms`;
    const failure = this.#failure(`at event ${seq}`, then, error);
    try {
      return await (next.isDead
        ? this.#addDeadLetter(seq, toStoredProblem(error))
        : this.#release({ dueInMs: next.pauseMs, problem: toStoredProblem(error) }));
    } finally {
      onFailure(failure);
    }
  }

  /** No event has failed. The claim must not run out either: that would look as if the next event had ended the process. */
  async #failToRead(error: unknown): Promise<never> {
    const { work, consumer, readFailures } = this.options;
    const failures = readFailures.add(work.entry);
    // No end of them makes a dead letter, so a pause of 0 would keep the store busy.
    const dueInMs = Math.max(consumer.pollMs, retryPauseMs(failures, consumer, Math.random()));
    await this.#release({ dueInMs, problem: work.entry.problem, isUntried: true }).catch(() => undefined);
    throw this.#failure(`to read after event ${this.#seq}`, `try ${failures + 1} in ${dueInMs} ms`, error);
  }

  #failure(where: string, then: string, cause: unknown): Error {
    const { consumer, work } = this.options;
    const [name, session] = [consumer.name, work.entry.key.sessionId].map((text) => JSON.stringify(text));
    return new Error(`Consumer ${name} failed ${where} of session ${session}: ${then}`, { cause });
  }

  #moveTo(seq: number): void {
    if (seq <= this.#seq) return;
    this.#seq = seq;
    this.#tries = 0;
    this.#isNextInDoubt = false;
    this.options.work.advance({ seq, tries: 0 });
  }

  /** Stores an event as a dead letter, and continues after it. */
  async #addDeadLetter(seq: number, problem: string): Promise<boolean> {
    const letter = { seq, tries: this.#tries, problem };
    this.#moveTo(seq);
    await this.#note({ letter });
    return !this.#isOver;
  }

  async #note(change: Parameters<ClaimedWork['note']>[0] = {}): Promise<void> {
    const outcome = await this.options.work.note(change);
    if (outcome.kind === 'left') this.#upTo = outcome.upTo;
    else this.#isOver = true;
  }

  /** Saves that the process handles nothing else, so that the next event has failed if it ends. */
  async #beginAlone(): Promise<boolean> {
    if (!this.#hasBegunAlone) await this.#note({ begins: true });
    this.#hasBegunAlone = true;
    return !this.#isOver;
  }

  /** Releases the claim, so that a worker can claim the remaining events. */
  async #release(release: Pick<WorkProgress, 'dueInMs' | 'problem' | 'isUntried'>): Promise<false> {
    await this.options.work.note({ seq: this.#seq, tries: this.#tries, goesOn: false, ...release });
    return this.#stop();
  }

  #stop(): false {
    this.#isOver = true;
    return false;
  }
}
