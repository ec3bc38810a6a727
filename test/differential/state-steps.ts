import type { StateKeyChange } from '../../src/index.js';
import { type LockStep, same } from './lock-step.js';
import type { ModelKey, ModelSession } from './model/model-session.js';
import { seen, sortedEntries } from './observations.js';

/** Compares the session's own state at some moments, and all its changes. */
export async function compareStates(step: LockStep, key: ModelKey): Promise<void> {
  const session = step.model.store.live(key);
  const lastSeq = session?.lastSeq ?? 0;
  for (const seq of new Set([0, Math.floor(lastSeq / 2), lastSeq, lastSeq + 1])) {
    await step.both(
      () => step.service.stateAt({ ...key, seq }),
      () => step.model.stateAt(key, seq),
      (real, model) =>
        same(
          seen(real, ({ state }) => sortedEntries(state)),
          seen(model, (state) => sortedEntries(Object.fromEntries(state))),
          `state at ${seq}`,
        ),
    );
  }
  if (!session) return;
  const changes = await allChanges(step, key);
  const own = changes.filter(({ scope }) => scope === 'session');
  same(
    inOrder(own.map(({ seq, key: name, before, after }) => [seq, name, before, after])),
    changesOf(session),
    'changes',
  );
}

type Change = readonly [seq: number, key: string, before: unknown, after: unknown];

async function allChanges(step: LockStep, key: ModelKey): Promise<StateKeyChange[]> {
  const found: StateKeyChange[] = [];
  let cursor: string | undefined;
  do {
    const page = await step.service.stateChanges({ ...key, limit: 7, cursor });
    found.push(...page.changes);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

/** The differences between the states before and after each event. */
function changesOf(session: ModelSession): Change[] {
  const changes = session.log.flatMap(({ seq }) => {
    const [before, after] = [session.state(seq - 1), session.state(seq)];
    return [...new Set([...before.keys(), ...after.keys()])]
      .map((key) => [seq, key, before.get(key), after.get(key)] as const)
      .filter(
        ([, key, old, value]) => before.has(key) !== after.has(key) || JSON.stringify(old) !== JSON.stringify(value),
      );
  });
  return inOrder(changes);
}

function inOrder(changes: readonly Change[]): Change[] {
  return changes.toSorted(([seqA, a], [seqB, b]) => seqA - seqB || (a < b ? -1 : 1));
}
