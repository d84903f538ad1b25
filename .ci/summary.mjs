// The last line of a CI run. A step that died before it could write its report counts as one
// failure, and so does a step that failed although its report is clean.
import { readFileSync } from 'node:fs';

const [testFile, testStatus, checkFile, checkStatus] = process.argv.slice(2);

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function atLeastOne(failed, status) {
  return status === '0' ? failed : Math.max(failed, 1);
}

const tests = read(testFile);
const checks = read(checkFile);
const brokenFiles = (tests?.testResults ?? []).filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
).length;
const failedTests = atLeastOne((tests?.numFailedTests ?? 0) + brokenFiles, testStatus);
const failedChecks = atLeastOne(checks?.failed ?? 0, checkStatus);
const failed = failedTests + failedChecks;

console.log(`${tests?.numPassedTests ?? 0} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
