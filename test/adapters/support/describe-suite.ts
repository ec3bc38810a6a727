import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreName } from '../../support/store-names.js';
import { type TestStore, storeOfEachKind } from '../../support/stores.js';
import { CountedTests } from './counted-tests.js';

/** A suite that judges an adapter. */
export interface AdapterSuite {
  /** Name of the framework, as its users say it. */
  readonly framework: string;
  /** The package whose version is shown. */
  readonly peer: string;
  /** Who wrote the tests, for instance the name of the package that publishes them. */
  readonly suite: string;
}

/** One cell of the table in README.md. */
export interface SuiteResult extends AdapterSuite {
  readonly store: string;
  readonly version: string;
  readonly passed: number;
  readonly failed: number;
}

/** The results that are shown to readers: one line of JSON each. `npm run docs:adapters` writes them. */
export const RESULTS = join(__dirname, '../results.ndjson');

/**
 * Defines the tests of a suite for each store, prints how many passed, and compares that with the table in the docs. With
 * `ADAPTER_RESULTS`, the name of a file, it adds the results to that file instead.
 *
 * @param stores those that the suite needs. Default: all that are chosen
 */
export function describeSuite(suite: AdapterSuite, define: (store: TestStore) => void): void;
export function describeSuite<Store extends { readonly name: StoreName }>(
  suite: AdapterSuite,
  define: (store: Store) => void,
  stores: readonly Store[],
): void;
export function describeSuite<Store extends { readonly name: StoreName }>(
  suite: AdapterSuite,
  define: (store: Store) => void,
  stores: readonly { readonly name: StoreName }[] = storeOfEachKind,
): void {
  if (stores.length === 0) {
    it(`${suite.suite} has no store`, () => expect(stores).toEqual([]));
    return;
  }
  describe.each(stores as readonly Store[])(`${suite.framework}: ${suite.suite} in $name`, (store) => {
    const tests = new CountedTests();
    tests.define(() => define(store));
    afterAll(() => {
      // Not the whole suite, because somebody selected tests by name.
      if (tests.ran < tests.defined) return;
      const result = { ...suite, store: store.name, version: versionOf(suite.peer), ...outcomeOf(tests) };
      process.stdout.write(`${suite.suite} in ${store.name}: ${result.passed} of ${tests.defined} passed\n`);
      const file = process.env.ADAPTER_RESULTS;
      if (file) appendFileSync(file, `${JSON.stringify(result)}\n`);
      else expectShown(result);
    });
  });
}

function outcomeOf({ defined, passed }: CountedTests): Pick<SuiteResult, 'passed' | 'failed'> {
  return { passed, failed: defined - passed };
}

/** Fails when the docs show something else: run `npm run docs:adapters`. */
function expectShown(result: SuiteResult): void {
  const shown = readFileSync(RESULTS, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SuiteResult);
  expect(shown).toContainEqual(result);
}

function versionOf(name: string): string {
  const path = require.resolve
    .paths(name)
    ?.map((folder) => join(folder, name, 'package.json'))
    .find((file) => readable(file));
  if (path === undefined) throw new Error(`${name} is not installed.`);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

function readable(file: string): boolean {
  try {
    return readFileSync(file).length > 0;
  } catch {
    return false;
  }
}
