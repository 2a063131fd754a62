import { spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Row } from '../experiment/row.ts';
import { deriveRng } from '../math/rng.ts';
import { readHeader, readRows } from './rows.ts';
import { attt } from './testing.ts';
import { randomPolicy } from './testing-policy.ts';
import { scratchFile, scratchFolder } from './testing-scratch.ts';

// Each test starts processes, which wait for a build where a source is newer, on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const folder = scratchFolder();
const model = join(folder, 'random.gguf');
const text = `
name = "small"
env = "household"
split = "valid_unseen"
tasks = "0-2"
seeds = [3, 4]
methods = ["frozen", "attt", "reflexion"]
[settings]
max_tokens = 8
step_limit = 4
min_steps_before_first_update = 2
[[sweep]]
method = "attt"
update_interval_k = [2, 5]
`;
const file = scratchFile('small.toml', text);

beforeAll(() => writeFileSync(model, randomPolicy(1)));

const run = (out: string, ...more: readonly string[]) =>
  attt('experiment', file, '--model', model, '--out', join(folder, out), ...more);

/** Rows of all files of a folder by key, without what the clock says. */
function table(out: string): string[] {
  const names = readdirSync(join(folder, out)).filter((name) => name.startsWith('rows'));
  return names
    .flatMap((name) =>
      readFileSync(join(folder, out, name), 'utf8')
        .trim()
        .split('\n'),
    )
    .filter((line) => line !== '')
    .map((line) => JSON.stringify({ ...(JSON.parse(line) as Row), seconds: 0 }))
    .sort();
}

describe('an experiment', () => {
  test('runs every applicable arm on every task and seed once, and says what is not', async () => {
    const ran = await run('whole');
    expect(ran.stderr).toContain('reflexion is not applicable');
    expect(ran.stderr).toMatch(/18\/18 .* left/);
    expect(JSON.parse(ran.stdout)).toEqual({ planned: 18, finished: 18, errors: 0 });
    const header = await readHeader(join(folder, 'whole'));
    expect(new Set(header?.arms.map(({ settings }) => settings.policy_model))).toEqual(
      new Set(['random.gguf']),
    );
    const rows = table('whole').map((line): Row => JSON.parse(line));
    expect(new Set(rows.map(({ key }) => key)).size).toBe(18);
    const trained = rows.filter(({ arm }) => arm === 'attt update_interval_k=2');
    expect(trained.every(({ updates, trained: n }) => updates > 0 && n > 0)).toBe(true);
    expect(
      trained.every(
        ({ retention }) => (retention?.texts.base ?? 0) > 0 && (retention?.turns.base ?? 0) > 0,
      ),
    ).toBe(true);
    expect(rows.filter(({ arm }) => arm === 'frozen').every((row) => row.trained === 0)).toBe(true);
  });

  test('does nothing when it is run again', async () => {
    const before = table('whole');
    const ran = await run('whole');
    expect(ran.stderr).toContain('18 of 18 episodes are there already');
    expect(table('whole')).toEqual(before);
  });

  test('runs the arms that are asked for now, and the others when it is run again', async () => {
    const some = await run('arms', '--arm', 'frozen', '--arm', 'attt');
    expect(JSON.parse(some.stdout)).toEqual({ planned: 12, finished: 12, errors: 0 });
    await run('arms');
    expect(table('arms')).toEqual(table('whole'));
    const wrong = await run('arms', '--arm', 'atttt');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('attt update_interval_k=2');
  });

  test('gives the same table side by side, also of a part, killed and resumed', async () => {
    const beside = await run('beside', '--jobs', '4');
    expect(JSON.parse(beside.stdout)).toEqual({ planned: 18, finished: 18, errors: 0 });
    expect(table('beside')).toEqual(table('whole'));
    // What all threads would say is said once.
    expect(beside.stderr.match(/^Backend: wasm/gm)).toHaveLength(1);
    const args = ['scripts/attt.mjs', 'experiment', file, '--model', model];
    const out = join(folder, 'cut');
    const child = spawn(process.execPath, [...args, '--out', out, '--jobs', '3'], {
      stdio: 'ignore',
    });
    const kept = () => (existsSync(join(out, 'rows-1-of-1.jsonl')) ? table('cut').length : 0);
    while (kept() < 2 && child.exitCode === null) await wait(10);
    child.kill('SIGKILL');
    await run('cut', '--jobs', '2', '--shard', '2/2');
    await run('cut', '--shard', '1/2', '--jobs', '9');
    const keys = table('cut').map((line) => (JSON.parse(line) as Row).key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(table('cut')).toEqual(table('whole'));
  });

  test('plays in whatever context, alone or beside longer ones, and measures what was unlearnt', async () => {
    const contexts = scratchFile(
      'contexts.toml',
      text
        .replace('update_interval_k = [2, 5]', 'context_length = [128, 1024]')
        .replace('[3, 4]', '[3]'),
    );
    const whole = await attt('experiment', contexts, '--model', model, '--out', join(folder, 'c'));
    expect(JSON.parse(whole.stdout)).toMatchObject({ errors: 0 });
    const arm = 'attt context_length=128';
    const args = [contexts, '--model', model, '--out', join(folder, 'c128'), '--arm', arm];
    expect((await attt('experiment', ...args)).code).toBe(0);
    const own = table('c').filter((line) => line.includes(`"arm":"${arm}"`));
    expect(own.length).toBeGreaterThan(0);
    expect(table('c128')).toEqual(own);
    expect(own.every((line) => (JSON.parse(line) as Row).retention !== null)).toBe(true);
  });

  test('refuses side by side where one device computes, and numbers that are none', async () => {
    const gpu = await run('gpu', '--jobs', '2', '--backend', 'webgpu');
    expect(gpu).toMatchObject({ code: 2, stdout: '' });
    expect(gpu.stderr).toContain('a graphics device computes one episode at a time');
    expect((await run('gpu', '--jobs', '0')).code).toBe(2);
  });

  test('gives the same table in shards that are merged', async () => {
    await Promise.all([run('a', '--shard', '1/2'), run('b', '--shard', '2/2')]);
    const [a, b] = [table('a'), table('b')];
    expect(a.length).toBeGreaterThan(0);
    expect(b.length).toBeGreaterThan(0);
    const merged = ['a', 'b'].map((name) => join(folder, name));
    await attt('experiment', 'merge', ...merged, '--out', join(folder, 'merged'));
    expect(table('merged')).toEqual(table('whole'));
  });

  test('killed at ten random points and resumed, loses and repeats no episode', async () => {
    const out = join(folder, 'killed');
    mkdirSync(out);
    const rng = deriveRng(8, 'kill');
    const kept = () =>
      readdirSync(out).includes('rows-1-of-1.jsonl') ? table('killed').length : 0;
    let cut = 0;
    for (let i = 0; i < 10; i++) {
      const args = ['scripts/attt.mjs', 'experiment', file, '--model', model, '--out', out];
      const child = spawn(process.execPath, args, { stdio: 'ignore' });
      let ended = false;
      const end = new Promise<void>((resolve) => {
        child.on('close', () => {
          ended = true;
          resolve();
        });
      });
      // Counted in rows and not in seconds, so that a busy machine is killed in mid-work as well.
      const rows = kept() + rng.int(2);
      while (!ended && kept() < rows) await wait(10);
      await wait(rng.int(100));
      if (!ended && kept() < 18) cut++;
      child.kill('SIGKILL');
      await end;
    }
    expect(kept()).toBeGreaterThan(0);
    expect(cut).toBeGreaterThan(4); // on a fast machine the last ones may find nothing left to do
    // A row that a dying process wrote in part.
    appendFileSync(join(out, 'rows-1-of-1.jsonl'), '{"schema":1,"key":"attt/valid_un');
    await run('killed');
    expect(table('killed')).toEqual(table('whole'));
  });

  test('tries an episode again that ended by an error, and no other', async () => {
    const out = join(folder, 'error');
    mkdirSync(out);
    const lines = readFileSync(join(folder, 'whole', 'rows-1-of-1.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const all = lines.map((line): Row => JSON.parse(line));
    const failing = all.map((row, i) =>
      i === 1 ? { ...row, reason: 'environment_error', error: 'no answer', solved: false } : row,
    );
    const text = failing.map((row) => `${JSON.stringify(row)}\n`).join('');
    writeFileSync(join(out, 'rows-1-of-1.jsonl'), text);
    copyFileSync(join(folder, 'whole', 'experiment.json'), join(out, 'experiment.json'));
    const ran = await run('error');
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('1 that ended by an error is tried again.');
    expect(ran.stderr).toContain('17 of 18 episodes are there already.');
    expect(JSON.parse(ran.stdout)).toEqual({ planned: 18, finished: 18, errors: 0 });
    const plain = (row: Row) => ({ ...row, seconds: 0 });
    const rows = [...(await readRows(out)).values()];
    expect(new Map(rows.map((row) => [row.key, plain(row)]))).toEqual(
      new Map(all.map((row) => [row.key, plain(row)])),
    );
  });

  test('has a report that is made again from its packed rows, to the last byte', async () => {
    const report = (from: string, to: string) =>
      attt('report', join(folder, from), '--out', join(folder, to), '--date', '2026-11-29');
    const ran = await report('whole', 'report');
    expect(JSON.parse(ran.stdout).files).toContain(join(folder, 'report', 'report.html'));
    await report('report', 'again');
    const read = (out: string, name: string) => readFileSync(join(folder, out, name));
    for (const name of ['report.html', 'report.md', 'rows.jsonl.gz', 'success.svg']) {
      expect(read('again', name).equals(read('report', name)), name).toBe(true);
    }
    expect(read('report', 'report.md').toString()).toContain('18 finished of 18 planned');
  });

  test('refuses a folder of other settings, and a merge with it unless told to', async () => {
    const other = scratchFile('other.toml', text.replace('step_limit = 4', 'step_limit = 3'));
    const args = ['--model', model, '--out', join(folder, 'whole')];
    const ran = await attt('experiment', other, ...args);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('frozen step_limit: 4 and 3');
    expect(ran.stderr).not.toContain('--mix'); // which joins folders, and runs nothing
    const mixed = await attt('experiment', other, ...args, '--mix');
    expect(mixed).toMatchObject({ code: 2, stdout: '' });
    expect(mixed.stderr).toContain('use it with "experiment merge"');
    const wrong = await attt('experiment', file, '--shard', '3/2', ...args);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
  });

  test.each([
    [['plan'], 'experiment plan wants one file; found none.'],
    [['plan', file, '--arm', 'attt'], 'experiment plan takes no --arm.'],
    [['merge', folder, '--out', folder, '--shard', '1/2'], 'experiment merge takes no --shard.'],
    [['merge', '--out', folder], 'experiment merge: no folder was given.'],
  ])('with %j ends with 2: %s', async (args, words) => {
    const ran = await attt('experiment', ...args);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(words);
  });

  test('with damaged files, says which and what to do', async () => {
    const out = join(folder, 'damaged');
    mkdirSync(out);
    const why = async (name: string, content: string | Uint8Array) => {
      writeFileSync(join(out, name), content);
      const ran = await run('damaged');
      expect(ran).toMatchObject({ code: 1, stdout: '' });
      return ran.stderr;
    };
    expect(await why('experiment.json', '{"schema":1,"exp')).toContain('is damaged: it is no JSON');
    expect(await why('experiment.json', '{"schema":1}')).toContain('its env is missing');
    expect(await why('experiment.json', '{"schema":2}')).toContain('what "attt experiment" writes');
    const header = readFileSync(join(folder, 'whole', 'experiment.json'));
    writeFileSync(join(out, 'experiment.json'), header);
    expect(await why('rows.jsonl', '{"key"\n')).toContain('rows.jsonl, line 1, is damaged');
    rmSync(join(out, 'rows.jsonl'));
    expect(await why('rows.jsonl.gz', 'no gzip')).toContain('rows.jsonl.gz could not be unpacked');
  });
});
