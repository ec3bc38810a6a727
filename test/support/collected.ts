import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from './until.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Waits until the process has forgotten all but a few objects. */
export async function untilCollected(kept: readonly WeakRef<object>[], but: number, problem: string): Promise<void> {
  await until(() => {
    collectGarbage();
    return kept.filter((reference) => reference.deref()).length <= but;
  }, problem);
}
