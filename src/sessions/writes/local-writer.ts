import type { AppendOutcome, Commit } from '../domain/stored/commit.js';
import type { LocalWriteStore } from '../storage/planned-write.js';
import type { SessionChange } from './session-change.js';
import { SessionPlan, UNCOUNTED_STATE } from './session-plan.js';
import type { Writer } from './writer.js';

/** Decides what becomes of operations on sessions of a store in this process. Nothing runs between the look at a session and the write. */
export class LocalWriter implements Writer {
  constructor(private readonly store: LocalWriteStore) {}

  append(commit: Commit): AppendOutcome {
    const session = this.store.find(commit.key);
    if (!session) return { kind: 'missing' };
    const { head, now } = session;
    const plan = new SessionPlan(head, session.find(commit.events));
    const excess = session.excessOf(commit);
    let outcome = plan.append(commit, now, excess);
    if (outcome === UNCOUNTED_STATE) {
      plan.setStateSize(session.countState());
      outcome = plan.append(commit, now, excess) as AppendOutcome;
    }
    this.#write(plan);
    return outcome;
  }

  change<Outcome>(change: SessionChange<Outcome>): Outcome {
    const session = this.store.find(change.key);
    if (!session) return change.missing;
    const decided = change.decide(session.head.record, session.now);
    const plan = new SessionPlan(session.head);
    if (decided.change) plan.change(decided.change);
    this.#write(plan);
    return decided.outcome;
  }

  remember(): void {}

  refresh(): void {}

  async finished(): Promise<void> {}

  #write(plan: SessionPlan): void {
    const write = plan.write();
    if (write) this.store.write(write);
  }
}
