// Plants one known mistake after the other into the sources, as they are loaded, and sees that the
// named tests fail: a check that cannot fail checks nothing. `node scripts/faults/plant.mjs [id …]`;
// the list is faults.json. Files stay as they are. Exit code 1 when a fault lives or does not apply.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const asked = process.argv.slice(2);
const faults = JSON.parse(readFileSync(join(here, 'faults.json'), 'utf8'));

let alive = 0;
for (const fault of faults) {
  if (asked.length > 0 && !asked.includes(fault.id)) continue;
  const { id, what, file, find, tests } = fault;
  if (readFileSync(join(root, file), 'utf8').split(find).length !== 2) {
    alive++;
    console.log(`${id}: NOT PLANTED, ${file} does not hold its text exactly once`);
    continue;
  }
  const args = ['run', '--config', join(here, 'vitest.config.ts'), '--reporter=json', ...tests];
  const { stdout } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PLANTED_FAULT: JSON.stringify(fault) },
  });
  const failed = failedTests(stdout);
  if (failed.length === 0) alive++;
  console.log(`${id} (${what}): ${failed.length === 0 ? 'LIVES' : `seen by "${failed[0]}"`}`);
}
process.exitCode = alive > 0 ? 1 : 0;

/** Names of the tests that failed; a file that does not load proves nothing. */
function failedTests(stdout) {
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"num')));
  return report.testResults
    .flatMap((each) => each.assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ fullName }) => fullName);
}
