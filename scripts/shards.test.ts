/** The files of docs/experiments that run an experiment's shards on many machines. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'attt-shards-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Ray as far as the script asks: a task runs, and is tried again, when its result is asked for. */
const ray = {
  '__init__.py': `
from . import exceptions

def init(): pass

def remote(max_retries, **_):
    class Task:
        def __init__(self, run): self.run = run
        def remote(self, *given): return (self.run, given, max_retries)
    return Task

def wait(refs): return refs[:1], refs[1:]

def get(ref):
    run, given, retries = ref
    for left in range(retries, -1, -1):
        try:
            return run(*given)
        except Exception as error:
            if left == 0: raise exceptions.RayTaskError(error)
`,
  'exceptions.py': `
class RayError(Exception): pass

class RayTaskError(RayError):
    def __init__(self, cause):
        self.cause = cause
`,
};

/** Notes what it was called with; the second shard fails. */
const node = `#!/bin/sh
echo "$*" >> ${folder}/calls
case "$*" in *"--shard 2/3"*) exit 1;; esac
`;

test('each asks for one CPU a shard, and computes on one thread', () => {
  const asks: Readonly<Record<string, string>> = {
    'slurm.sh': '--cpus-per-task=1',
    'kubernetes.yaml': 'limits: { cpu: "1"',
    'ray_shards.py': 'num_cpus=1',
  };
  for (const [file, ask] of Object.entries(asks)) {
    const text = readFileSync(join('docs/experiments', file), 'utf8');
    expect(text, file).toContain(ask);
    // In a shell's words, or in a list of Python's.
    expect(text.replaceAll(/[",]/g, ''), file).toMatch(/^ *[^ #].* --threads 1\b/m);
  }
});

const python = spawnSync('python3', ['--version']).status === 0;

test.skipIf(!python)('a shard that fails under Ray leaves the others to their end', () => {
  mkdirSync(join(folder, 'ray'));
  for (const [name, text] of Object.entries(ray)) writeFileSync(join(folder, 'ray', name), text);
  writeFileSync(join(folder, 'node'), node, { mode: 0o755 });
  const { status, stderr } = spawnSync(
    'python3',
    ['docs/experiments/ray_shards.py', 'main.toml', 'out/', '3'],
    {
      encoding: 'utf8',
      env: {
        ...{ ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
        PATH: `${folder}${delimiter}${process.env.PATH}`,
      },
    },
  );
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  // The one that fails is tried three times more.
  expect(calls.map((call) => /--shard (\d)\/3/.exec(call)?.[1])).toEqual([...'122223']);
  expect(stderr).toContain('shard 2 of 3 failed');
  expect(stderr).toContain('shard 3 of 3 is done');
  expect(stderr).toContain('1 of 3 shards failed: 2.');
  expect(status).toBe(1);
});
