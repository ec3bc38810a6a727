import fc from 'fast-check';
import type { EventActions } from '../../src/index.js';
import {
  type StateOperation,
  pathOfKey,
  StateFold,
  StatePatches,
} from '../../src/sessions/domain/history/state-history.js';
import { seed } from '../support/random.js';

const key = fc.oneof(
  fc.constantFrom('a', 'b', '/', '~', '~1', '~01', 'a/b~c', '__proto__', 'user:u', 'user:/~', 'app:a', 'constructor'),
  fc.string({ minLength: 1, maxLength: 4 }).filter((text) => !text.startsWith('temp:')),
);
const state = fc.dictionary(key, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 5, noNullPrototype: true });
const change = fc.record({ set: state, removed: fc.array(key, { maxLength: 3 }), isSummary: fc.boolean() });

type Members = ReadonlyMap<string, unknown>;

/** Applies operations to an object, strictly as RFC 6902 says. */
function patched(members: Members, operations: readonly StateOperation[]): Members {
  const result = new Map(members);
  for (const operation of operations) {
    const [root, token = '', ...deeper] = operation.path.split('/');
    if (root !== '' || deeper.length > 0 || /~(?![01])/.test(token)) throw new Error(`no pointer: ${operation.path}`);
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (operation.op !== 'add' && !result.has(name)) throw new Error(`nothing to ${operation.op}: ${name}`);
    if (operation.op === 'remove') result.delete(name);
    else result.set(name, operation.value);
  }
  return result;
}

function actionsOf({
  set,
  removed,
  isSummary,
}: {
  set: Record<string, unknown>;
  removed: string[];
  isSummary: boolean;
}) {
  const stateRemovals = removed.filter((name) => !Object.hasOwn(set, name));
  return { stateDelta: set, stateRemovals, ...(isSummary && { compaction: { fromSeq: 1, toSeq: 1 } }) } as EventActions;
}

function all(fold: StateFold): Members {
  return new Map([...Object.entries(fold.toRecord()), ...Object.entries(fold.toShared())]);
}

const isShared = (name: string): boolean => /^(user|app):/.test(name);

function parts(start: Record<string, unknown>): StateFold {
  const entries = Object.entries(start);
  const [own, shared] = [entries.filter(([name]) => !isShared(name)), entries.filter(([name]) => isShared(name))];
  return new StateFold(Object.fromEntries(own), Object.fromEntries(shared));
}

describe('patches of a state', () => {
  it('turn the first state into each later one, regardless of other writes to shared keys', () => {
    const property = fc.property(state, fc.array(change, { maxLength: 8 }), state, (start, changes, byOthers) => {
      const fold = parts(start);
      const patches = new StatePatches(Object.keys(fold.toRecord()));
      let current = all(fold);
      for (const each of changes) {
        const actions = actionsOf(each);
        fold.add({ actions });
        current = patched(current, patches.patchOf({ actions }));
        expect(Object.fromEntries(current)).toEqual(Object.fromEntries(all(fold)));
      }
      const disturbed = new Map([...current].filter(([name]) => !isShared(name)));
      for (const [name, value] of Object.entries(byOthers)) if (isShared(name)) disturbed.set(name, value);
      const set = actionsOf({ set: byOthers, removed: [...current.keys()], isSummary: false });
      const after = patched(disturbed, patches.patchOf({ actions: set }));
      expect(Object.fromEntries(after)).toEqual(byOthers);
    });
    fc.assert(property, { seed, numRuns: 300 });
  });

  it('catch up with a state after a gap', () => {
    const property = fc.property(state, state, (start, later) => {
      const [before, after] = [parts(start), parts(later)];
      const patches = new StatePatches(Object.keys(before.toRecord()));
      const caughtUp = patched(new Map(Object.entries(before.toRecord())), patches.patchTo(after.toRecord()));
      expect(Object.fromEntries(caughtUp)).toEqual(after.toRecord());
      expect(patches.patchTo(after.toRecord()).every(({ op }) => op === 'replace')).toBe(true);
    });
    fc.assert(property, { seed, numRuns: 200 });
  });

  it.each([
    ['a', '/a'],
    ['a/b', '/a~1b'],
    ['~1', '/~01'],
    ['/~', '/~1~0'],
  ])('have the path of %j: %j', (name, path) => {
    expect(pathOfKey(name)).toBe(path);
  });
});
