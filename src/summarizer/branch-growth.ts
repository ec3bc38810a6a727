import { agendaNameOf } from '../sessions/domain/background/agenda-names.js';
import { BoundedMap } from '../sessions/domain/process/bounded-map.js';
import { isRedacted } from '../sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import { type SessionKey, nameProblem } from '../sessions/domain/values/ids.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import type { AfterAppend } from '../sessions/session-hooks.js';

/** An event of a branch, or with `coversTo` a summary of it. */
export interface BranchMark {
  readonly seq: number;
  readonly branch: string;
  readonly coversTo?: number | undefined;
}

/** What an event says of the growth of a branch; `undefined` if it is of none, or of one that nobody can ask for. */
export function branchMarkOf(event: LoggedEvent): BranchMark | undefined {
  const { seq } = event;
  const { branchSummary } = event.actions;
  const branch = branchSummary?.branch ?? event.branch;
  if (branch === undefined || nameProblem(branch) !== undefined) return undefined;
  if (!branchSummary) return { seq, branch };
  // Of a redacted one nothing is left to read.
  return isRedacted(event) ? undefined : { seq, branch, coversTo: branchSummary.toSeq };
}

/** Of each branch, how many events of its own its summary does not cover. */
export function uncoveredOf(marks: readonly BranchMark[]): ReadonlyMap<string, number> {
  const coveredTo = new Map<string, number>();
  for (const { branch, coversTo } of marks) {
    if (coversTo !== undefined) coveredTo.set(branch, Math.max(coversTo, coveredTo.get(branch) ?? 0));
  }
  const counts = new Map<string, number>();
  for (const { seq, branch, coversTo } of marks) {
    if (coversTo !== undefined || seq <= (coveredTo.get(branch) ?? 0)) continue;
    counts.set(branch, (counts.get(branch) ?? 0) + 1);
  }
  return counts;
}

/** How many events no summary of the whole covers: no branch has more. */
export function uncoveredInAll({ counters, marks }: SessionRecord): number {
  return counters.events - marks.covered.events;
}

/** What this process knows of a session. */
interface Growth {
  readonly incarnation: string;
  readonly marksSeq: number;
  lastSeq: number;
  /** Events that this process did not see: each may be of any branch. */
  unseen: number;
  readonly counts: BoundedMap<number>;
}

/** A session that is dropped from the map is read once more. */
const MAX_SESSIONS = 5_000;
/** Of a session with more branches, those that are dropped wait for the sweep. */
const MAX_BRANCHES = 64;

/**
 * How many events each branch may have that no summary covers. It is counted as events pass by, so that no append reads anything for
 * it. It may be too high, so the log is read before anything is written.
 */
export class BranchGrowth {
  readonly #sessions = new BoundedMap<Growth>(MAX_SESSIONS);

  /** @param limit how many events a branch may have */
  constructor(private readonly limit: number) {}

  /** Counts an event that was just appended. Returns whether its branch may have more than the limit; then the count begins anew. */
  add({ key, event, record }: Pick<AfterAppend, 'key' | 'event' | 'record'>): boolean {
    const { branch, seq } = event;
    const growth = this.#growthOf(key, seq, record);
    growth.unseen += Math.max(0, seq - growth.lastSeq - 1);
    growth.lastSeq = Math.max(growth.lastSeq, seq);
    if (!branch) return false;
    const count = (growth.counts.get(branch) ?? 0) + 1;
    growth.counts.set(branch, count);
    if (count + growth.unseen <= this.limit) return false;
    this.learn(key, record, new Map());
    return true;
  }

  /** Takes the counts that were read from the log. One above the limit is due again after half as many more, if nobody writes it. */
  learn(key: SessionKey, record: SessionRecord, counts: ReadonlyMap<string, number>): void {
    const growth = newGrowth(record, record.lastSeq, 0);
    for (const [branch, count] of counts) {
      growth.counts.set(branch, count > this.limit ? Math.floor(this.limit / 2) : count);
    }
    this.#sessions.set(agendaNameOf(key), growth);
  }

  forget(key: SessionKey): void {
    this.#sessions.delete(agendaNameOf(key));
  }

  #growthOf(key: SessionKey, seq: number, record: SessionRecord): Growth {
    const name = agendaNameOf(key);
    const known = this.#sessions.get(name);
    if (known?.incarnation === record.incarnation && known.marksSeq === record.marksSeq) return known;
    // After a summary of the whole or a rewind, as for a session that this process does not know.
    const growth = newGrowth(record, seq - 1, Math.max(0, uncoveredInAll(record) - 1));
    this.#sessions.set(name, growth);
    return growth;
  }
}

function newGrowth({ incarnation, marksSeq }: SessionRecord, lastSeq: number, unseen: number): Growth {
  return { incarnation, marksSeq, lastSeq, unseen, counts: new BoundedMap<number>(MAX_BRANCHES) };
}
