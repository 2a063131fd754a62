// Runs every tier of tests in order, finds or fetches the browser that they need, and ends with the
// line `N passed, N failed` (and `, N skipped`). `--long` also runs the slow ones; names of tiers and files run
// these alone, as in `npm test -- node gpu` and `npm test -- e2e/page.spec.ts`.
// Exit code 1 when a test failed, a tier ran none, or a word names no tests.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserPath } from './browser.mjs';
import { buildCli } from './build-cli.mjs';
import { buildPage } from './start.mjs';
import { chosenTiers } from './tiers.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, 'node_modules', '.bin');
const scratch = mkdtempSync(join(tmpdir(), 'attt-test-'));
const tiers = chosen();
const long = process.argv.includes('--long') || tiers.some(({ name }) => name === 'long');

/** Seconds that a tier may take on two cores; more is said aloud, not failed. */
const budgets = { node: 120, smollm2: 240, gpu: 180, e2e: 360, long: 3600 };

/** What is asked for; ends the process where some of it is no test. */
function chosen() {
  try {
    return chosenTiers(process.argv.slice(2), (file) => existsSync(join(root, file)));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}

/** Runs a program with its output on this terminal. True when it ended well. */
function runs(program, args, env = {}) {
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    // Fixed kernels: streams must not hang on which one was a little faster today.
    env: { ...process.env, ATTT_KERNELS: 'fixed', ...(long ? { VITE_LONG: '1' } : {}), ...env },
  });
  return status === 0 && !error;
}

/** Sees to it that there is a browser: an installed one, a Debian package, Playwright's own. */
function findBrowser() {
  if (browserPath()) return;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('No Chrome or Chromium here: installing the Debian package.');
    runs('apt-get', ['update', '-qq']);
    runs('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      DEBIAN_FRONTEND: 'noninteractive',
    });
    if (browserPath()) return;
  }
  console.log("No Chrome or Chromium here: fetching Playwright's own.");
  runs(join(bin, 'playwright'), ['install', 'chromium']);
  if (browserPath()) return;
  console.error(
    'The tests need Chrome or Chromium: install one, or name it in the environment variable CHROME_PATH.',
  );
  process.exit(1);
}

/** One vitest project, or files of it: how many tests ended how, with the names of the skipped ones. */
function vitest(project, files) {
  const file = join(scratch, `${project}.json`);
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
  const well = runs(join(bin, 'vitest'), ['run', '--project', project, ...reporters, ...files], {
    // A log that no terminal shows is easier to read without codes for colours.
    ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
  });
  const report = read(file);
  const tests = (report?.testResults ?? []).flatMap((each) => each.assertionResults);
  const count = (...states) => tests.filter((test) => states.includes(test.status)).length;
  const failed = count('failed');
  return {
    passed: count('passed'),
    // A file that does not load has no tests to fail, and an unhandled error belongs to none.
    failed: well ? failed : Math.max(failed, 1),
    skipped: tests
      .filter((test) => ['skipped', 'pending', 'todo'].includes(test.status))
      .map((test) => test.fullName),
  };
}

/** All tests of the page, or those of some files. */
function playwright(files) {
  const file = join(scratch, 'e2e.json');
  // Those that measure time follow all others, and of some files no others: one by one they have the machine alone.
  const some = files.length > 0 ? ['--no-deps', '--workers=1', ...files] : [];
  const well = runs(join(bin, 'playwright'), ['test', '--reporter=list,json', ...some], {
    PLAYWRIGHT_JSON_OUTPUT_NAME: file,
  });
  const stats = read(file)?.stats ?? { expected: 0, unexpected: 0, flaky: 0, skipped: 0 };
  return {
    passed: stats.expected + stats.flaky,
    failed: well ? stats.unexpected : Math.max(stats.unexpected, 1),
    skipped: new Array(stats.skipped).fill('e2e'),
  };
}

/** A report, or null where the program ended before it wrote one. */
function read(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

findBrowser();
const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
try {
  await buildCli();
  await buildPage();
} catch (error) {
  console.error(error);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
for (const { name, files } of tiers) {
  console.log(`\n=== ${name}`);
  const began = Date.now();
  const { passed, failed, skipped } = name === 'e2e' ? playwright(files) : vitest(name, files);
  const seconds = Math.round((Date.now() - began) / 1000);
  const none = passed + failed + skipped.length === 0;
  if (none) console.error(`The tier "${name}" ran no test.`);
  for (const test of skipped) console.log(`skipped: ${test}`);
  total.passed += passed;
  total.failed += failed + Number(none);
  total.skipped += skipped.length;
  const budget = budgets[name];
  const late = seconds > budget ? `, over its budget of ${budget} s` : '';
  lines.push(
    `${name}: ${passed} passed, ${failed} failed, ${skipped.length} skipped in ${seconds} s${late}`,
  );
}
rmSync(scratch, { recursive: true, force: true });
console.log(`\n${lines.join('\n')}`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exit(total.failed > 0 ? 1 : 0);
