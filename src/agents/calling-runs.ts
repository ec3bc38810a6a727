import { AsyncLocalStorage } from 'node:async_hooks';

/** A run whose handler calls. */
interface CallingRun {
  /** Whose run it is. */
  readonly instance: object;
  isOver: boolean;
}

/**
 * The last run of each instance within whose handler a call is. One storage for all instances: Node does something for each storage
 * at each promise of the process, also when nobody needs it any more.
 */
const CALLING = new AsyncLocalStorage<readonly CallingRun[]>();

/** Whether the caller is the handler of a run of this instance that is not over. */
export function isCalledWithinRun(instance: object): boolean {
  return CALLING.getStore()?.some((run) => run.instance === instance && !run.isOver) === true;
}

/** Begins the work of a run, which knows by {@link isCalledWithinRun} until `end` is called that it is within it. */
export function withinRun<Result>(
  instance: object,
  work: () => Result,
): { readonly result: Result; readonly end: () => void } {
  const run = { instance, isOver: false };
  const outer = CALLING.getStore()?.filter((other) => other.instance !== instance && !other.isOver) ?? [];
  const end = (): void => void (run.isOver = true);
  return { result: CALLING.run([run, ...outer], work), end };
}
