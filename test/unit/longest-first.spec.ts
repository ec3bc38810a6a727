import { existsSync } from 'node:fs';
import { join } from 'node:path';
import LongestFirst from '../longest-first.cjs';

const TESTS = join(__dirname, '..');
const context = { config: { cache: false }, hasteFS: { getSize: () => 1_000 } };
const specAt = (path: string) => ({ path: join(TESTS, path), context });

describe('the test sequencer', () => {
  it('starts with the longest specs if none was measured', () => {
    const sorted = new LongestFirst().sort(
      ['unit/state.spec.ts', 'contract/storage.spec.ts', 'contract/service.spec.ts'].map(specAt),
    );
    expect(sorted.map(({ path }) => path)).toEqual(
      ['contract/service.spec.ts', 'contract/storage.spec.ts', 'unit/state.spec.ts'].map((path) => join(TESTS, path)),
    );
  });

  it('lists only specs that exist', () => {
    const missing = Object.keys(LongestFirst.SECONDS).filter((name) => !existsSync(join(TESTS, `${name}.spec.ts`)));
    expect(missing).toEqual([]);
  });
});
