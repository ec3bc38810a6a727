import { randomUUID } from 'node:crypto';
import type { StateOwner, UserKey } from '../domain/values/ids.js';
import { newStamp } from '../domain/values/stamp.js';
import { toErrorMessage } from '../domain/errors/thrown-text.js';
import type { EntryPlace, EntryStore } from '../storage/entry-store.js';
import type { SessionStorage, StorageReplica } from '../storage/session-storage.js';
import { OwnWrites } from './own-writes.js';

/** How old a replica may be, and who hears of it. */
export interface ReplicaUse {
  readonly maxLagMs: number;
  /** Hears when the replica is left, and when it is used again. */
  readonly warn: (message: string) => void;
  /** In milliseconds. Only differences count. */
  readonly now: () => number;
}

/** Marks within the time that a replica may lag. */
const MARKS_PER_LAG = 4;
/** Marks that the replica has not shown yet. */
const MOST_WAITING = 16;
/** An instance that ended leaves its mark for so long. */
const SHORTEST_MARK_MS = 60_000;

/** A mark that was written to the primary. */
interface Mark {
  readonly number: number;
  /** When its write began: who has the mark has all that was committed before. */
  readonly at: number;
}

/**
 * Knows how old a replica is: it writes a mark to the primary and looks for it in the replica, which gets commits in their order. So it
 * needs no right and no function of a database, and a server that is no replica of the primary is never used. Reads cause the marks: none
 * are written while nobody reads, and no read waits for one.
 */
export class Replica implements StorageReplica {
  readonly #place: EntryPlace = { space: 'replica-mark', name: randomUUID() };
  readonly #ownWrites = new OwnWrites();
  /** Until when the replica is known to have everything. */
  #completeTo = -Infinity;
  #waiting: Mark[] = [];
  #written: { readonly number: number; readonly stamp: number | undefined } = { number: 0, stamp: undefined };
  #looking: Promise<void> | undefined;
  #nextLook = -Infinity;
  #problem: string | undefined;
  #isClosed = false;

  constructor(
    private readonly primary: EntryStore,
    readonly storage: SessionStorage,
    private readonly use: ReplicaUse,
  ) {}

  isUsable({ appName, userId }: Partial<UserKey>): boolean {
    const now = this.use.now();
    if (now >= this.#nextLook) void this.look();
    if (now - this.#completeTo > this.use.maxLagMs) return false;
    return appName === undefined || userId === undefined
      ? true
      : !this.#ownWrites.hasSince({ appName, userId }, this.#completeTo);
  }

  failed(error: unknown): void {
    this.#completeTo = -Infinity;
    this.#tell(`it does not answer: ${toErrorMessage(error)}`);
  }

  /** A write for this user has ended, well or not. Shared state of an app is of no user. */
  wrote({ appName, userId }: StateOwner): void {
    if (userId !== undefined) this.#ownWrites.note({ appName, userId }, this.use.now());
  }

  /** What the operator has to know. Looks first, if the last look is too long ago. */
  async warnings(): Promise<readonly string[]> {
    if (this.use.now() >= this.#nextLook) await this.look();
    return this.#problem === undefined ? [] : [warningOf(this.#problem)];
  }

  /** Looks how old the replica is. Those who come meanwhile share the look. Never fails. */
  look(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      this.#nextLook = this.use.now() + this.use.maxLagMs / MARKS_PER_LAG;
    });
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
    await this.storage.close();
  }

  async #look(): Promise<void> {
    // Without the primary, nobody learns how old the replica is. Whoever uses the primary is told of it.
    await this.#mark().catch(() => undefined);
    try {
      const { entries } = await this.storage.entries.find([this.#place]);
      this.#shown(Number(entries[0]?.text ?? 0));
    } catch (error) {
      this.failed(error);
    }
  }

  async #mark(): Promise<void> {
    const { maxLagMs, now } = this.use;
    const mark: Mark = { number: this.#written.number + 1, at: now() };
    const stamp = newStamp();
    const next = {
      stamp,
      rank: 0,
      since: { inMs: 0 },
      text: String(mark.number),
      ttlMs: Math.max(SHORTEST_MARK_MS, 10 * maxLagMs),
    };
    const outcome = await this.primary.write([{ ...this.#place, expected: this.#written.stamp, next }]);
    if (outcome.kind === 'changed') {
      // It has expired, or a write whose answer was lost has come.
      this.#written = { number: mark.number, stamp: outcome.entries[0]?.stamp };
      return;
    }
    this.#written = { number: mark.number, stamp };
    this.#waiting.push(mark);
    // The oldest one stays: it says for how long nothing was shown.
    if (this.#waiting.length > MOST_WAITING) this.#waiting.splice(1, 1);
  }

  /** The replica has this mark, and so all before. */
  #shown(number: number): void {
    const { maxLagMs, now } = this.use;
    const last = this.#waiting.findLast((mark) => mark.number <= number);
    if (last) {
      this.#waiting = this.#waiting.filter((mark) => mark.number > number);
      this.#completeTo = last.at;
      this.#ownWrites.forgetBefore(last.at);
    }
    const [oldest] = this.#waiting;
    if (oldest && now() - oldest.at > maxLagMs) this.#tell(`it is more than ${maxLagMs} ms behind`);
    else if (last && now() - last.at <= maxLagMs) this.#tell(undefined);
  }

  #tell(problem: string | undefined): void {
    const wasFine = this.#problem === undefined;
    const isFine = problem === undefined;
    this.#problem = problem;
    if (wasFine === isFine) return;
    this.use.warn(isFine ? 'The read replica answers reads again.' : warningOf(problem));
  }
}

function warningOf(problem: string): string {
  return `The read replica is not used, and the primary answers all reads: ${problem}`;
}
