import type { AppendOutcome, Commit } from '../domain/commit.js';
import type { TurnOutcome, TurnRequest } from '../domain/turn.js';
import type { LocalWriteStore } from '../storage/planned-write.js';
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

  turn(request: TurnRequest): TurnOutcome {
    const session = this.store.find(request.key);
    if (!session) return { kind: 'missing' };
    const plan = new SessionPlan(session.head);
    const outcome = plan.turn(request, session.now);
    this.#write(plan);
    return outcome;
  }

  remember(): void {}

  refresh(): void {}

  async finished(): Promise<void> {}

  #write(plan: SessionPlan): void {
    const write = plan.write();
    if (write) this.store.write(write);
  }
}
