import { existsSync } from 'node:fs';
import { join } from 'node:path';
import LongestFirst from '../longest-first.cjs';

const TESTS = join(__dirname, '..');
const context = { config: { cache: false }, hasteFS: { getSize: () => 1_000 } };
const specAt = (path: string) => ({ path: join(TESTS, path), context });

describe('the order of specs that were never measured', () => {
  it('begins with those that are known to take long', () => {
    const sorted = new LongestFirst().sort(
      ['unit/state.spec.ts', 'contract/storage.spec.ts', 'contract/service.spec.ts'].map(specAt),
    );
    expect(sorted.map(({ path }) => path)).toEqual(
      ['contract/service.spec.ts', 'contract/storage.spec.ts', 'unit/state.spec.ts'].map((path) => join(TESTS, path)),
    );
  });

  it('names only specs that there are', () => {
    const missing = Object.keys(LongestFirst.SECONDS).filter((name) => !existsSync(join(TESTS, `${name}.spec.ts`)));
    expect(missing).toEqual([]);
  });
});
