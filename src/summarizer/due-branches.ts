import { agendaNameOf } from '../sessions/domain/background/agenda-names.js';
import { BoundedMap } from '../sessions/domain/process/bounded-map.js';
import { SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import { rangesAbove } from '../sessions/domain/values/seq-ranges.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import type { AfterAppend } from '../sessions/session-hooks.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { BranchGrowth, type BranchMark, branchMarkOf, uncoveredInAll, uncoveredOf } from './branch-growth.js';
import { VisibleLog } from './conversation/visible-log.js';

export interface DueBranchesOptions {
  readonly storage: SessionStorage;
  /** A branch is due at more events than this; 0 = never. */
  readonly branchEvents: number;
}

/** How many times as far back a branch is looked for as it may grow. */
const LOOK_BACK = 100;
/** Those of a session that is dropped are found again by the sweep. */
const MAX_SESSIONS = 10_000;

/** Finds the branches that need a summary of their own, and keeps them for the worker. Whoever writes one checks again whether it is due. */
export class DueBranches {
  readonly #growth: BranchGrowth;
  readonly #found = new BoundedMap<readonly string[]>(MAX_SESSIONS);

  constructor(private readonly options: DueBranchesOptions) {
    this.#growth = new BranchGrowth(options.branchEvents);
  }

  /** Whether the event that was just appended may have made its branch due. Reads nothing. */
  mayBeDue(append: AfterAppend): boolean {
    return this.options.branchEvents > 0 && this.#growth.add(append);
  }

  /** Reads which branches are due; none if the session is gone. */
  async find(key: SessionKey): Promise<readonly string[]> {
    const found = this.options.branchEvents > 0 ? await this.#read(key) : [];
    this.#keep(key, found);
    return found;
  }

  /** Those that were found in this process and are not written yet. */
  found(key: SessionKey): readonly string[] {
    return this.#found.get(agendaNameOf(key)) ?? [];
  }

  /** Nothing is left to write for a branch that was found. */
  finish(key: SessionKey, branch: string): void {
    this.#keep(
      key,
      this.found(key).filter((each) => each !== branch),
    );
  }

  #keep(key: SessionKey, found: readonly string[]): void {
    if (found.length > 0) this.#found.set(agendaNameOf(key), found);
    else this.#found.delete(agendaNameOf(key));
  }

  async #read(key: SessionKey): Promise<readonly string[]> {
    const { storage, branchEvents } = this.options;
    const read = await storage.read({ key });
    if (!read || uncoveredInAll(read.record) <= branchEvents) {
      this.#growth.forget(key);
      return [];
    }
    const counts = uncoveredOf(await this.#marksOf(read.record));
    this.#growth.learn(key, read.record, counts);
    return Array.from(counts).flatMap(([branch, count]) => (count > branchEvents ? [branch] : []));
  }

  async #marksOf(record: SessionRecord): Promise<readonly BranchMark[]> {
    const { storage, branchEvents } = this.options;
    const log = new VisibleLog(storage, record);
    const marks: BranchMark[] = [];
    try {
      for await (const event of log.oldest(rangesAbove(log.ranges, record.lastSeq - LOOK_BACK * branchEvents))) {
        const mark = branchMarkOf(event);
        if (mark) marks.push(mark);
      }
    } catch (error) {
      // It was deleted meanwhile.
      if (!(error instanceof SessionNotFoundError)) throw error;
      return [];
    }
    return marks;
  }
}
