/**
 * Runs the specs that failed once more, all of them as in the full layer, with nothing beside it. What passes then depends on how busy the
 * machine is: it is named as unstable, to be mended, and does not stop a change. With more than a few failures nothing is run again: that is no chance.
 *
 * Usage: node .ci/again.mjs <report of Jest>, which it replaces by what both runs say together.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const MOST_SPECS = 4;
const MOST_MS = 900_000;

const [reportFile] = process.argv.slice(2);
const first = JSON.parse(readFileSync(reportFile, 'utf8') || '{}');
const specs = failedSpecs(first);
if (specs === undefined || specs.length === 0 || specs.length > MOST_SPECS) process.exit(1);

console.log(`\n== again, alone: ${specs.join(' ')}`);
const jest = ['--max-semi-space-size=64', 'node_modules/jest/bin/jest.js', '--maxWorkers=1', '--forceExit'];
const againFile = `${reportFile}.again`;
const { status: exit } = spawnSync(process.execPath, [...jest, '--json', `--outputFile=${againFile}`, ...specs], {
  stdio: 'inherit',
  timeout: MOST_MS,
});
if (exit !== 0 || !existsSync(againFile)) process.exit(1);
const again = JSON.parse(readFileSync(againFile, 'utf8'));
const failedOnce = first.numFailedTests;
if (again.numFailedTests + again.numRuntimeErrorTestSuites > 0 || again.numPassedTests < failedOnce) process.exit(1);
writeFileSync(
  reportFile,
  JSON.stringify({ ...first, numPassedTests: first.numPassedTests + failedOnce, numFailedTests: 0 }),
);
console.log(`\nUNSTABLE: ${specs.join(' ')} failed once and passed alone. Each of them is a bug to mend.`);

/** The files of the tests that failed, or undefined if something else than a test did. */
function failedSpecs({ testResults = [], numRuntimeErrorTestSuites = 1 }) {
  if (numRuntimeErrorTestSuites > 0) return undefined;
  const names = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ ancestorTitles }) => specOf(name, ancestorTitles)),
  );
  return [...new Set(names)];
}

/** A group describes each of its specs by its name. */
function specOf(file, [outermost]) {
  const path = relative(process.cwd(), file).replaceAll('\\', '/');
  return path.includes('/groups/') ? `test/${outermost}.spec.ts` : path;
}
