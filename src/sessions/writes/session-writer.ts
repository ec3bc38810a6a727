import { groupBy } from '../domain/stored/batches.js';
import type { AppendOutcome, Commit } from '../domain/stored/commit.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import { sessionNameOf } from '../domain/values/ids.js';
import type { PlannedWrite, SessionHead, WriteStore } from '../storage/planned-write.js';
import type { PlanTime } from '../storage/plan-time.js';
import { Semaphore } from '../storage/semaphore.js';
import { type HeldDecisions, decideHeld, holdRequestFor } from './held-decisions.js';
import { KnownHeads } from './known-heads.js';
import { type Operation, PendingAppend, PendingChange } from './operations.js';
import type { SessionChange } from './session-change.js';
import { SessionPlan, isCertain } from './session-plan.js';
import type { Writer } from './writer.js';

/** Limits how long other operations wait for one batch: events, and operations without events. One with more events has its own. */
const MAX_ITEMS = 64;
/** A server limits the size of a message. */
const MAX_CHARACTERS = 1_000_000;
/** How often a batch is planned again on what the store answered, before it holds its sessions. */
const MAX_MISSES = 2;

/** Not by `process` when it is needed: fake timers of a test, as Jest has them, would never let a write begin. */
const nextTick = process.nextTick.bind(process);

/** The operations on one session, as one write. */
interface SessionWork {
  readonly operations: readonly Operation[];
  /** Those that the write is made of. What the plan refuses is not among them: only the stored log shows whether it repeats an event. */
  readonly planned: readonly Operation[];
  readonly write: PlannedWrite;
}

/**
 * Decides what becomes of operations on sessions, and has the store write it. It takes what waits, never waits for more: operations on
 * one session become one write, and writes to several sessions go to the store together.
 *
 * A plan relies on the head of the session that this process knows. If that is out of date, nothing of the plan is written, the store answers with
 * the current head, and the operations are decided again. Only sessions that are not known, and refusals, need more than one
 * way to the store: they are held while the operations are decided.
 */
export class SessionWriter implements Writer {
  #queue: Operation[] = [];
  /** Whether a batch will take what is in the queue in this tick. */
  #isStarting = false;
  /** Sessions of the batches that are running. */
  readonly #busy = new Set<string>();
  /** Operations that run without a batch. */
  readonly #alone = new Set<Promise<void>>();
  readonly #batches: Semaphore;
  readonly #waiting: Semaphore;
  readonly #known = new KnownHeads();

  constructor(private readonly store: WriteStore) {
    this.#batches = new Semaphore(store.limits.maxBatches);
    this.#waiting = new Semaphore(store.limits.maxWaiting);
  }

  append(commit: Commit): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => this.#add(new PendingAppend(commit, resolve, reject)));
  }

  change<Outcome>(change: SessionChange<Outcome>): Promise<Outcome> {
    return new Promise((resolve, reject) => this.#add(new PendingChange(change, resolve, reject)));
  }

  remember(head: SessionHead): void {
    this.#known.remember(head);
  }

  refresh(head: SessionHead): void {
    this.#known.refresh(head);
  }

  async finished(): Promise<void> {
    await Promise.allSettled(this.#alone);
    await this.#batches.finished();
    await this.#waiting.finished();
  }

  #add(operation: Operation): void {
    if (!this.store.limits.isOn) {
      const running = this.#runAlone(operation).finally(() => this.#alone.delete(running));
      this.#alone.add(running);
      return;
    }
    this.#queue.push(operation);
    this.#startBatches();
  }

  #startBatches(): void {
    if (this.#isStarting || !this.#batches.hasRoom) return;
    this.#isStarting = true;
    // An operation that comes after the last look at the queue, while the permit is still taken, needs another one.
    void this.#batches
      .run(() => this.#drainQueue())
      .then(() => {
        if (this.#isNextWaiting) this.#startBatches();
      });
  }

  async #drainQueue(): Promise<void> {
    // After all promises that are ready: the answers of one batch lead to the next batch.
    await new Promise<void>((resolve) => nextTick(resolve));
    this.#isStarting = false;
    for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) {
      if (this.#isNextWaiting) this.#startBatches();
      await this.#runBatch(batch);
    }
  }

  get #isNextWaiting(): boolean {
    return this.#batches.hasRoom && this.#queue.some(({ key }) => !this.#busy.has(sessionNameOf(key)));
  }

  /** Lets the next operations on these sessions run, except on those of which some are left. */
  #release(operations: readonly Operation[], left: readonly Operation[] = []): void {
    const stay = new Set(left.map(toOperationSessionName));
    for (const operation of operations)
      if (!stay.has(toOperationSessionName(operation))) this.#busy.delete(toOperationSessionName(operation));
    if (this.#isNextWaiting) this.#startBatches();
  }

  /** Takes the oldest operations. Those on a session of a running batch stay in the queue, and so do all that follow one that stays. */
  #nextBatch(): Operation[] {
    const batch: Operation[] = [];
    const rest: Operation[] = [];
    const taken = new Set<string>();
    const closed = new Set(this.#busy);
    let items = 0;
    let characters = 0;
    for (const operation of this.#queue) {
      const name = toOperationSessionName(operation);
      const count = Math.max(1, operation.ids.length);
      const isFull =
        batch.length > 0 && (items + count > MAX_ITEMS || characters + operation.characters > MAX_CHARACTERS);
      const stays = isFull || closed.has(name) || (operation.isAlone && taken.has(name));
      if (stays || operation.isAlone) closed.add(name);
      if (stays) {
        rest.push(operation);
      } else {
        batch.push(operation);
        taken.add(name);
        items += count;
        characters += operation.characters;
      }
    }
    this.#queue = rest;
    for (const operation of batch) this.#busy.add(toOperationSessionName(operation));
    return batch;
  }

  /** On what is known, unless another operation on its session runs. */
  async #runAlone(operation: Operation): Promise<void> {
    let left: readonly Operation[] = [operation];
    const name = toOperationSessionName(operation);
    if (!this.#busy.has(name)) {
      this.#busy.add(name);
      left = await this.#writeAsKnown(left);
      if (left.length > 0) this.#release(left);
    }
    if (left.length > 0) await this.#holdAndWait(left);
  }

  async #runBatch(all: readonly Operation[]): Promise<void> {
    const batch = await this.#writeAsKnown(all);
    if (batch.length === 0) return;
    if (this.store.limits.holdsOneByOne) {
      await Promise.all(
        [...groupBy(batch, toOperationSessionName).values()].map((ofSession) => this.#holdOne(ofSession)),
      );
    } else {
      await this.#holdBatch(batch);
      this.#release(batch);
    }
  }

  async #holdOne(ofSession: readonly Operation[]): Promise<void> {
    await this.#holdAndWait(ofSession);
    this.#release(ofSession);
  }

  async #holdBatch(batch: readonly Operation[]): Promise<void> {
    try {
      const skipped = await this.#hold(batch, { waits: false, isSingleAttempt: batch.length > 1 });
      for (const ofSession of groupBy(skipped, toOperationSessionName).values()) this.#holdLater(ofSession);
    } catch (error) {
      // What may be written must not be repeated.
      const isFinal = batch.length === 1 || isUnknown(error);
      if (isFinal) for (const operation of batch) operation.fail(error);
      else for (const operation of batch) this.#holdLater([operation]);
    }
  }

  /** Writes what can be decided on the heads that are known. Returns the operations that are left. */
  async #writeAsKnown(batch: readonly Operation[]): Promise<readonly Operation[]> {
    const settled = new Set<Operation>();
    let left = batch;
    let again = batch;
    for (let misses = 0; again.length > 0 && misses < MAX_MISSES; misses++) {
      again = await this.#writeOnce(again, settled);
      const open = left;
      left = open.filter((operation) => !settled.has(operation));
      this.#release(open, left);
    }
    return left;
  }

  /** Adds the operations that are written. Returns those that the store answered with another head. */
  async #writeOnce(batch: readonly Operation[], settled: Set<Operation>): Promise<readonly Operation[]> {
    const known = this.#known;
    const candidates = batch.filter((operation) => this.#mayPlan(operation));
    if (candidates.length === 0) return [];
    let works: readonly SessionWork[] = [];
    try {
      const answers = await this.store.write((time) => {
        works = this.#plan(candidates, time);
        return works.map(({ write }) => write);
      }, calledAtOf(batch));
      const again: Operation[] = [];
      for (const [index, work] of works.entries()) {
        const answer = answers?.[index];
        if (answer?.kind === 'written') {
          known.remember(work.write.after);
          for (const operation of work.planned) {
            operation.settle();
            settled.add(operation);
          }
        } else if (answer?.kind === 'changed') {
          if (answer.head) known.remember(answer.head);
          else known.forget(work.write.key);
          again.push(...work.operations);
        } else if (answer?.kind === 'unknown') {
          this.#doubt(work);
        }
      }
      return again;
    } catch {
      for (const work of works) this.#doubt(work);
      return [];
    }
  }

  /** Whoever holds the session finds what is written. */
  #doubt({ write, planned }: SessionWork): void {
    this.#known.forget(write.key);
    for (const operation of planned) operation.doubt();
  }

  #mayPlan(operation: Operation): boolean {
    const head = this.#known.find(operation.key);
    if (!head || operation.isAlone) return false;
    return !operation.withMetadata || head.metadata !== undefined;
  }

  /** What can be planned at this time. */
  #plan(operations: readonly Operation[], time: PlanTime): readonly SessionWork[] {
    return [...groupBy(operations, toOperationSessionName).values()].flatMap((ofSession) => {
      const head = ofSession[0] && this.#known.find(ofSession[0].key);
      if (!head || !isCertain(head.record, time)) return [];
      const plan = new SessionPlan(head);
      const planned: Operation[] = [];
      for (const operation of ofSession) {
        if (operation.withMetadata && head.metadata === undefined) break;
        const decision = operation.decide(plan, time.now);
        if (decision === 'unknown') break;
        if (decision === 'changed') planned.push(operation);
      }
      const write = plan.write();
      return write ? [{ operations: ofSession, planned, write }] : [];
    });
  }

  #holdLater(operations: readonly Operation[]): void {
    void this.#waiting.run(() => this.#holdAndWait(operations));
  }

  /** Waits for sessions that others hold until the time limit. */
  async #holdAndWait(operations: readonly Operation[]): Promise<void> {
    try {
      const skipped = await this.#hold(operations, { waits: true, isSingleAttempt: false });
      if (skipped.length > 0) throw new Error('A store that waits skips no session');
    } catch (error) {
      for (const operation of operations) operation.fail(error);
    }
  }

  /** Returns the operations on sessions that others hold. */
  async #hold(
    operations: readonly Operation[],
    options: { readonly waits: boolean; readonly isSingleAttempt: boolean },
  ): Promise<readonly Operation[]> {
    const groups = [...groupBy(operations, toOperationSessionName).values()];
    let decisions: HeldDecisions | undefined;
    await this.store.hold(
      groups.map(holdRequestFor),
      async (held) => {
        decisions = await decideHeld(groups, held);
        return decisions.writes;
      },
      { ...options, calledAt: calledAtOf(operations) },
    );
    for (const { key, head } of decisions?.heads ?? []) {
      if (head) this.#known.remember(head);
      else this.#known.forget(key);
    }
    const skipped = decisions?.skipped ?? [];
    for (const operation of operations) if (!skipped.includes(operation)) operation.settle();
    return skipped;
  }
}

function toOperationSessionName({ key }: Operation): string {
  return sessionNameOf(key);
}

function calledAtOf(operations: readonly Operation[]): number {
  return Math.min(...operations.map(({ calledAt }) => calledAt));
}

function isUnknown(error: unknown): boolean {
  return error instanceof StoreUnavailableError && error.outcomeUnknown;
}
