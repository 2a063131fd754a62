/** The stages of make.py up to the weights: from a seed the same episodes, tokens and weights. Needs Python with torch. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Where the policy's own environment or that of `npm run verify:python` lies. */
const python = ['.venv/bin/python', '.cache/verify/bin/python'].find((path) => existsSync(path));
const folder = mkdtempSync(join(tmpdir(), 'attt-data-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Prints the hash of a checkpoint's weights. */
const HASH = `
import hashlib, sys, torch
model = torch.load(sys.argv[1], weights_only=False)["model"]
print(hashlib.sha256(b"".join(model[name].numpy().tobytes() for name in sorted(model))).hexdigest())
`;

function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  expect(stderr).not.toContain('Traceback');
  expect(status).toBe(0);
  return stdout;
}

function generate(name: string, episodes: number, seed: number): string {
  const out = join(folder, name);
  const script = 'scripts/policy/generate.ts';
  const flags = ['--episodes', String(episodes), '--seed', String(seed), '--out', out];
  run('node', 'scripts/policy/run.mjs', script, ...flags);
  return readFileSync(out, 'utf8');
}

/** What prepare.py says of a corpus. */
interface Statistics {
  readonly episodes: number;
  readonly tokens: number;
  readonly trained_share: number;
}

describe('the data stages', () => {
  let first = '';
  beforeAll(() => {
    first = generate('a.jsonl', 400, 3);
  }, 120_000);
  test('give the same episodes for the same seed, and a longer file begins with a shorter one', () => {
    expect(generate('b.jsonl', 200, 3)).toBe(
      first.split('\n').slice(0, 200).join('\n').concat('\n'),
    );
    expect(generate('c.jsonl', 200, 4)).not.toBe(generate('b.jsonl', 200, 3));
  });
  test.skipIf(python === undefined)('give the same tokenizer and as many tokens', () => {
    const prepared = ['1', '2'].map((n): { tokenizer: string; statistics: Statistics } => {
      const tokenizer = join(folder, `tokenizer-${n}.json`);
      const flags = ['--in', join(folder, 'a.jsonl'), '--out', join(folder, `${n}.npz`)];
      const script = 'scripts/policy/prepare.py';
      const told = run(python ?? '', script, ...flags, '--tokenizer', tokenizer);
      return { tokenizer: readFileSync(tokenizer, 'utf8'), statistics: JSON.parse(told) };
    });
    const [one, two] = prepared;
    expect(one).toEqual(two);
    expect(one?.statistics.episodes).toBe(400);
    // loss on thought, action and end of turn of the expert alone: about a third of the text
    expect(one?.statistics.trained_share).toBeGreaterThan(0.25);
    expect(one?.statistics.trained_share).toBeLessThan(0.5);
    // about 49 tokens a step and 14 steps an episode
    expect((one?.statistics.tokens ?? 0) / 400).toBeGreaterThan(500);
    expect((one?.statistics.tokens ?? 0) / 400).toBeLessThan(1200);
  });
  test.skipIf(python === undefined)('give the same weights by one process and by two', () => {
    const size = ['--layers', '2', '--width', '64', '--hidden', '128', '--tokens', '6000'];
    const steps = ['--step-tokens', '2048', '--row-tokens', '1024', '--warmup-steps', '2'];
    const hashes = ['1', '2'].map((workers) => {
      const out = join(folder, `weights-${workers}`);
      const corpus = join(folder, '1.npz');
      const flags = ['--stage', `${corpus}:1`, '--val', corpus, '--out', out, '--workers', workers];
      run(python ?? '', 'scripts/policy/train.py', ...flags, ...size, ...steps);
      return run(python ?? '', '-c', HASH, join(out, 'final.pt'));
    });
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}\s$/);
    expect(hashes[0]).toBe(hashes[1]);
  });
});
