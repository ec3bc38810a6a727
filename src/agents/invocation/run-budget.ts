import { setTimeout as delay } from 'node:timers/promises';
import { BudgetExceededError } from '../../sessions/domain/errors/budget-error.js';
import { isFinalResponse } from '../../sessions/domain/event/event-inspection.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import type { CheckBudgetRequest } from '../../sessions/operations/check-budget.js';
import { reserveBudget } from '../../sessions/operations/reserve-budget.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';

/** Between tries to reserve what others give back. */
const LONGEST_PAUSE_MS = 100;

/** What is reserved of budgets for a run while it works. */
export class BudgetHold {
  #giveBack: (() => Promise<void>) | undefined;

  constructor(private readonly env: AgentEnvironment) {}

  get isHeld(): boolean {
    return this.#giveBack !== undefined;
  }

  /** Reserves what an answer is expected to use, or refuses with `BudgetExceededError`. */
  async reserve(owner: CheckBudgetRequest): Promise<void> {
    const { sessions, turnTtlMs: ttlMs, onError } = this.env;
    this.#giveBack = await reserveBudget(environmentBehind(sessions), owner, { ttlMs, onError });
  }

  /** The same for a message that has waited: the run before it may not have given back yet, and others are over soon. */
  async reserveInTurn(owner: CheckBudgetRequest, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + this.env.graceMs;
    for (;;) {
      try {
        return await this.reserve(owner);
      } catch (error) {
        const isReserved = error instanceof BudgetExceededError && error.budget.reserved === true;
        if (!isReserved || signal.aborted || performance.now() >= deadline) throw error;
      }
      await delay(Math.min(this.env.pollMs, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
    }
  }

  async giveBack(): Promise<void> {
    const giveBack = this.#giveBack;
    this.#giveBack = undefined;
    await giveBack?.();
  }
}

/**
 * Ends a run that has used its budget up before it asks a model again. A final response is whole, whatever it cost; what follows it
 * is not.
 */
export class RunBudget {
  #hasAnswered = false;

  /** Whether the budget decides if the run goes on after this event, whose tokens count. */
  decidesAfter(event: EventInput): boolean {
    if (!event.usageMetadata) return false;
    const mayBeLast = isFinalResponse(event) && !this.#hasAnswered;
    this.#hasAnswered ||= mayBeLast;
    return !mayBeLast;
  }
}
