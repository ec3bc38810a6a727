/** Prints how many tests passed and failed. A step or a test file that broke counts as one failure. */
import { readFileSync } from 'node:fs';

const [reportFile, exitStatus] = process.argv.slice(2);
const report = JSON.parse(readFileSync(reportFile, 'utf8') || '{}');
const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = report;

const failed = numFailedTests + numRuntimeErrorTestSuites;
const passedButBroken = failed === 0 && exitStatus !== '0';
console.log(`${numPassedTests} passed, ${passedButBroken ? 1 : failed} failed`);
if (exitStatus === '0' && (failed > 0 || numPassedTests === 0)) process.exitCode = 1;
