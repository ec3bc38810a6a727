import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldTurn } from '../../index.js';

/**
 * The turns that services hold for the run that calls. One storage for all services: Node does something for each storage at each
 * promise of the process, also when nobody needs it any more.
 */
const TURNS = new AsyncLocalStorage<ReadonlyMap<object, HeldTurn>>();

/** The turn that a service holds for the run that calls. */
export function turnHeldBy(service: object): HeldTurn | undefined {
  return TURNS.getStore()?.get(service);
}

/** Calls a run in a turn of a service. */
export function callInTurn<Result>(service: object, turn: HeldTurn, call: () => Result): Result {
  return TURNS.run(new Map([...(TURNS.getStore() ?? []), [service, turn]]), call);
}
