import { BudgetExceededError } from '../domain/errors/budget-error.js';
import { digestOf } from '../domain/values/json-digest.js';
import { retryOvertaken } from '../domain/process/retry-overtaken.js';
import { type PlaceOptions, takePlace } from '../leases/take-place.js';
import type { SessionEnvironment } from '../session-environment.js';
import { type BudgetState, type CheckBudgetRequest, budgetStates } from './check-budget.js';

/** While more answers than these are left in a budget, none is reserved. */
const MOST_RESERVED = 250;

type GiveBack = () => Promise<void>;

/** How reservations are held. */
export type ReservationOptions = Pick<PlaceOptions, 'ttlMs' | 'onError'>;

/**
 * Refuses with `BudgetExceededError` if a budget is used up, or would be by what the runs at work are expected to use. Otherwise reserves
 * what an answer is expected to use, until it is given back. Who dies gives it back by the end of a lease.
 *
 * It costs the read of the check, and if a budget comes to its end, two calls for each such budget and a second read.
 */
export async function reserveBudget(
  env: SessionEnvironment,
  request: CheckBudgetRequest,
  options: ReservationOptions,
): Promise<GiveBack> {
  let states = await budgetStates(env, request);
  /** The refusal because others used of a budget while a part of it was reserved. */
  let overtaken: unknown;
  const work = async (): Promise<GiveBack> => {
    // A session has one run at work.
    const near = states.filter((state) => state.scope !== 'session' && answersLeft(state) <= MOST_RESERVED);
    const [first] = near;
    if (!first) return () => Promise.resolve();
    const giveBack = await reserveAll(env, request, near, options);
    try {
      states = await budgetStates(env, request);
      const isLess = near.some((state) => leftIn(states, state, request) < answersLeft(state));
      if (!isLess) return giveBack;
      overtaken = reservedError(first);
      throw overtaken;
    } catch (error) {
      await giveBack();
      throw error;
    }
  };
  return retryOvertaken(work, (error) => error === overtaken);
}

async function reserveAll(
  env: SessionEnvironment,
  request: CheckBudgetRequest,
  states: readonly BudgetState[],
  options: ReservationOptions,
): Promise<GiveBack> {
  const { leases } = env.storage;
  const taken: GiveBack[] = [];
  const giveBack = async (): Promise<void> => {
    for (const each of taken) await each();
  };
  try {
    for (const state of states) {
      const name = toBudgetLeaseName(state, request);
      const place = await takePlace({ ...options, leases, name, places: MOST_RESERVED, atMost: answersLeft(state) });
      if (!place) throw reservedError(state);
      taken.push(async () => place.release());
    }
    return giveBack;
  } catch (error) {
    await giveBack();
    throw error;
  }
}

/** How many answers fit into what is left. The last one may need more. */
function answersLeft({ used, limit, estimate }: BudgetState): number {
  return Math.ceil((limit - used) / estimate);
}

function leftIn(states: readonly BudgetState[], state: BudgetState, request: CheckBudgetRequest): number {
  const name = toBudgetLeaseName(state, request);
  const now = states.find((each) => toBudgetLeaseName(each, request) === name);
  return now ? answersLeft(now) : 0;
}

function reservedError({ scope, period, unit, used, limit, resetsAt }: BudgetState): BudgetExceededError {
  return new BudgetExceededError({
    scope,
    period,
    unit,
    used,
    limit,
    ...(resetsAt !== undefined && { resetsAt }),
    reserved: true,
  });
}

/** Short, since leases have short names, and different for all budgets. */
function toBudgetLeaseName(
  { scope, period, unit, limit }: BudgetState,
  { appName, userId }: CheckBudgetRequest,
): string {
  const owner = scope === 'app' ? [appName] : [appName, userId];
  return `budget:${digestOf([scope, period, unit, limit, ...owner])}`;
}
