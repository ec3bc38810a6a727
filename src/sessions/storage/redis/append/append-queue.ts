import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { StoreUnavailableError } from '../../../domain/errors.js';
import { groupBy, inBatches } from '../../../domain/batches.js';
import { type AppendContext, type EncodedCommit, appendAlone, appendCommits } from './append-commit.js';

/** A script blocks the server while it runs. A larger commit has its own. */
const MAX_COMMITS_PER_SCRIPT = 32;
const MAX_EVENTS_PER_SCRIPT = 64;
const MAX_CHARACTERS_PER_SCRIPT = 262_144;

interface QueuedAppend {
  readonly encoded: EncodedCommit;
  readonly slot: string;
  readonly resolve: (outcome: AppendOutcome | Promise<AppendOutcome>) => void;
  readonly reject: (error: unknown) => void;
}

/** What the queue needs of its store. */
interface AppendQueueOptions {
  readonly encode: (commit: Commit) => EncodedCommit;
  /** Commits of one slot can be in one script. */
  readonly slotOf: (commit: Commit) => string;
  /** Starts a call, whose scripts share one time limit. */
  readonly startCall: () => AppendContext;
}

/**
 * Sends appends that are called in the same turn of the event loop as one script, because a script costs more than what it does for
 * one append. No append waits for another one: there is no limit of scripts on their way. Each append is atomic by itself,
 * and fails by itself; they keep their order.
 */
export class AppendQueue {
  #queue: QueuedAppend[] = [];

  constructor(private readonly options: AppendQueueOptions) {}

  append(commit: Commit): Promise<AppendOutcome> {
    const encoded = this.options.encode(commit);
    const slot = this.options.slotOf(commit);
    return new Promise((resolve, reject) => {
      // After all promises that are ready: replies of one batch lead to the next batch.
      if (this.#queue.push({ encoded, slot, resolve, reject }) === 1) process.nextTick(() => this.send());
    });
  }

  /** Appends in a script of its own, unless a check refuses it. Both share one time limit. */
  async appendChecked(
    commit: Commit,
    refusalOf: (context: AppendContext) => Promise<AppendOutcome | undefined>,
  ): Promise<AppendOutcome> {
    const context = this.options.startCall();
    return (await refusalOf(context)) ?? appendAlone(context, this.options.encode(commit));
  }

  /** Sends what waits, which otherwise happens at the end of this turn of the event loop. */
  send(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const batch of batchesOf(queue)) void this.#sendBatch(batch);
  }

  async #sendBatch(batch: readonly QueuedAppend[]): Promise<void> {
    try {
      const outcomes = await appendCommits(
        this.options.startCall(),
        batch.map(({ encoded }) => encoded),
      );
      for (const [index, outcome] of outcomes.entries()) batch[index]?.resolve(outcome);
    } catch (error) {
      for (const { reject } of batch) reject(batch.length > 1 ? copyOf(error) : error);
    }
  }
}

/** An error of its own for each append, because the service notes the event in it. */
function copyOf(error: unknown): unknown {
  return error instanceof StoreUnavailableError ? error.withOutcome(error.outcomeUnknown) : error;
}

/** Appends of a slot, in their order, in as few batches as allowed. */
function batchesOf(queue: readonly QueuedAppend[]): (readonly QueuedAppend[])[] {
  if (queue.length === 1) return [queue];
  const limits = { items: MAX_COMMITS_PER_SCRIPT, weightOf: sizeOf, weight: 1 };
  return [...groupBy(queue, ({ slot }) => slot).values()].flatMap((ofSlot) => inBatches(ofSlot, limits));
}

/** How much of a script it takes; 1 is all of it. */
function sizeOf({ encoded: { commit } }: QueuedAppend): number {
  const characters = commit.events.reduce((sum, { payload }) => sum + payload.length, 0);
  return Math.max(commit.events.length / MAX_EVENTS_PER_SCRIPT, characters / MAX_CHARACTERS_PER_SCRIPT);
}
