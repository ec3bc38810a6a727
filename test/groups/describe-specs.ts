import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import layer from './layer.cjs';
import singleSpecs from './single-specs.cjs';
// The specs of a group share the databases and processes of these, which are removed after the last one.
import '../app/common-app.js';
import '../support/mariadb-store.js';
import '../support/postgres-store.js';
import '../support/processes/worker-process.js';
import '../support/redis-cluster-store.js';
import '../support/databases-with-tables.js';

const TESTS = join(__dirname, '..');
const SPEC = '.spec.ts';

/**
 * Describes the specs of these folders below `test` in one file, without those that the layer leaves out. Jest loads all
 * modules again for each file, which takes longer than the tests of most specs.
 */
export function describeSpecs(...folders: readonly string[]): void {
  for (const name of folders.flatMap(specsIn).filter((spec) => layer.has(spec))) {
    describe(name, () => {
      require(join(TESTS, name + SPEC));
    });
  }
}

/** The specs of a folder that do not run by themselves, as paths below `test` without extension. */
export function specsIn(folder: string): readonly string[] {
  return readdirSync(join(TESTS, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(SPEC))
    .map((path) =>
      relative(TESTS, join(TESTS, folder, path))
        .replaceAll('\\', '/')
        .slice(0, -SPEC.length),
    )
    .filter((name) => !singleSpecs.includes(name))
    .sort();
}
