import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { EpisodeEvent } from '../records.ts';
import { validate } from './bundle.ts';
import { attt } from './testing.ts';
import { randomPolicy } from './testing-policy.ts';
import { scratchFile, scratchFolder } from './testing-scratch.ts';

// Each test starts processes, which wait for a build where a source is newer, on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const folder = scratchFolder();
const model = join(folder, 'random.gguf');
const config = scratchFile(
  'config.toml',
  '[models.policy]\nmax_tokens = 12\n[att]\nupdate_interval_k = 2\n[lab]\nstep_limit = 6\n',
);
const settings = scratchFile(
  'settings.json',
  '{"att": {"trigger": {"min_steps_before_first_update": 2, "update_interval_k": 3}}}',
);

beforeAll(() => writeFileSync(model, randomPolicy(1)));

function run(out: string, ...more: readonly string[]) {
  return attt(
    ...['run', '--model', model, '--env', 'household', '--split', 'valid_unseen'],
    ...['--config', config, '--settings', settings, '--out', join(folder, out), ...more],
  );
}
const read = (out: string, file: string) => readFileSync(join(folder, out, file), 'utf8');
const eventsOf = (out: string): EpisodeEvent[] =>
  read(out, 'events.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('a run', () => {
  test('writes every event and a summary of them, and prints the summary', async () => {
    const ran = await run('first', '--tasks', '0-1', '--seed', '3');
    expect(ran.stderr).toContain('3 from settings.json is used, 2 from config.toml is not');
    expect(ran.code).toBe(0);
    const summary = JSON.parse(read('first', 'summary.json'));
    expect(JSON.parse(ran.stdout)).toEqual(summary);
    expect(summary.settings).toMatchObject({ seed: 3, step_limit: 6, update_interval_k: 3 });
    expect(summary.totals).toMatchObject({ episodes: 2, errors: 0, mean_steps: 6 });

    const events = eventsOf('first');
    const began = events.filter((event) => event.type === 'episode_started');
    expect(began.map(({ task }) => task.index)).toEqual([0, 1]);
    const boundaries = events.filter((event) => event.type === 'boundary');
    expect(boundaries.map(({ t }) => t)).toEqual([3, 6, 3, 6]);
    expect(boundaries[0]?.outcome).toBe('updated');
    expect(boundaries[0]?.deltaNorm).toBeGreaterThan(0);
    expect(boundaries[0]?.kl).toBeGreaterThan(0);
    expect(summary.episodes[0].updates).toBe(boundaries[1]?.updates);
  });

  test('leaves no patches there that an earlier run made', async () => {
    mkdirSync(join(folder, 'stale'));
    writeFileSync(join(folder, 'stale', 'predictions.jsonl'), '{"instance_id":"of before"}\n');
    expect((await run('stale', '--tasks', '0')).code).toBe(0);
    expect(readdirSync(join(folder, 'stale')).sort()).toEqual(['events.jsonl', 'summary.json']);
  });

  test('of Reflexion tries a failed task again, each time with all that was written before', async () => {
    await run('reflexion', '--tasks', '0', '--method', 'reflexion', '--times');
    const events = eventsOf('reflexion');
    const began = events.flatMap((e) => (e.type === 'episode_started' ? [e.manifest] : []));
    const wrote = events.flatMap((e) =>
      e.type === 'episode_ended' ? [e.reflection?.text.trim() ?? null] : [],
    );
    const [first, second] = wrote;
    expect(wrote).toEqual([expect.any(String), expect.any(String), null]);
    expect(began.map((m) => m.reflections)).toEqual([undefined, [first], [first, second]]);
    // Asked for, each event has its time; the other runs here are equal files because none has.
    const times = events.map(({ clock }) => clock?.at ?? '');
    expect(times).toEqual([...times].sort());
    expect(Date.parse(times[0] ?? '')).toBeGreaterThan(Date.UTC(2026, 0, 1));
    expect(read('first', 'events.jsonl')).not.toContain('"clock"');
  });

  test('is the same to the last bit when it is made again', async () => {
    await run('again', '--tasks', '0-1', '--seed', '3');
    expect(read('again', 'events.jsonl')).toBe(read('first', 'events.jsonl'));
    expect(read('again', 'summary.json')).toBe(read('first', 'summary.json'));
  });

  test('with --bundles keeps one valid bundle a task, equal when it is made again', async () => {
    await run('bundled', '--tasks', '0', '--seed', '3', '--bundles');
    await run('bundled-again', '--tasks', '0', '--seed', '3', '--bundles');
    const file = join(folder, 'bundled', 'valid_unseen-0.attt.zip');
    const checked = await validate(file);
    expect(checked).toMatchObject({ valid: true, events: eventsOf('bundled').length });
    const again = join(folder, 'bundled-again', 'valid_unseen-0.attt.zip');
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
  });

  test('starts from a given adapter, whatever file it comes in; its bundle repeats it', async () => {
    const from = (out: string, adapter: string, ...more: readonly string[]) =>
      run(out, '--tasks', '1', '--seed', '3', '--adapter', adapter, ...more);
    const bundle = join(folder, 'bundled', 'valid_unseen-0.attt.zip');
    const parts = join(folder, 'parts');
    await attt('bundle', 'export', bundle, '--to', 'files', '--out', parts);
    await from('from-peft', join(parts, 'adapter'), '--bundles');
    await from('from-gguf', join(parts, 'adapter.gguf'));
    const [start, ...rest] = eventsOf('from-peft');
    expect(start).toMatchObject({
      manifest: {
        startAdapter: { name: 'adapter', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    });
    expect(rest[0]).not.toEqual(eventsOf('first').find((e) => e.type === 'step' && e.t === 1));
    expect(eventsOf('from-gguf')).toEqual([start, ...rest]);

    const own = join(folder, 'from-peft', 'valid_unseen-1.attt.zip');
    expect(await validate(own)).toMatchObject({ valid: true });
    const again = join(folder, 'adapter-start');
    await attt('bundle', 'export', own, '--to', 'peft-start', '--out', again);
    await from('from-start', again);
    expect(read('from-start', 'events.jsonl')).toBe(read('from-peft', 'events.jsonl'));

    const { code, stderr } = await from(
      'wider',
      again,
      '--config',
      scratchFile('wide.toml', '[att]\nlora_rank = 4\n'),
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/has rank 8, alpha 16 on q_proj, v_proj; the settings train rank 4/);
    const served = await attt(
      ...['run', '--model', 'http://127.0.0.1:9', '--adapter', again, '--env', 'household'],
      ...['--split', 'valid_unseen', '--tasks', '0', '--out', join(folder, 'served')],
    );
    expect(served.code).toBe(2);
    expect(served.stderr).toContain('--served-adapter');
  });

  test('that is frozen trains nothing, and acts as the other until its first update', async () => {
    await run('frozen', '--tasks', '0', '--seed', '3', '--method', 'frozen');
    const frozen = eventsOf('frozen');
    const boundaries = frozen.filter((event) => event.type === 'boundary');
    expect(boundaries.map(({ outcome }) => outcome)).toEqual(['disabled', 'disabled']);
    const steps = (events: readonly EpisodeEvent[]) =>
      events.flatMap((event) => (event.type === 'step' ? [event.generation.ids] : []));
    const other = steps(eventsOf('first')).slice(0, 6);
    expect(steps(frozen).slice(0, 3)).toEqual(other.slice(0, 3));
    expect(steps(frozen).slice(3)).not.toEqual(other.slice(3));
  });
});

test('a higher temperature and a repetition penalty each have other words written than the frozen run', async () => {
  const written = async (method: string) => {
    expect((await run(method, '--tasks', '0', '--seed', '3', '--method', method)).code).toBe(0);
    const steps = eventsOf(method).filter((event) => event.type === 'step');
    return steps.map(({ generation }) => generation.ids);
  };
  const frozen = await written('frozen');
  expect(frozen).toHaveLength(6);
  expect(await written('temperature')).not.toEqual(frozen);
  expect(await written('repetition_penalty')).not.toEqual(frozen);
});

test('a run at learning rate 0 is the frozen run: the same ids, actions and observations', async () => {
  const still = scratchFile(
    'still.toml',
    '[models.policy]\nmax_tokens = 12\n[att]\nlearning_rate = 0\n[lab]\nstep_limit = 6\n',
  );
  const trained = (out: string, method: string) =>
    run(out, '--tasks', '0', '--seed', '3', '--method', method, '--config', still);
  await trained('still', 'attt');
  await trained('still-frozen', 'frozen');
  const steps = (out: string) => eventsOf(out).filter((event) => event.type === 'step');
  const updates = eventsOf('still').filter(
    (event) => event.type === 'boundary' && event.outcome === 'updated',
  );
  expect(updates.length).toBeGreaterThan(0);
  const same = (out: string) =>
    steps(out).map(({ generation, action, observationIds }) => [
      generation,
      action,
      observationIds,
    ]);
  expect(same('still')).toEqual(same('still-frozen'));
});

describe('wrong use', () => {
  test.each([
    [['--tasks', '5-2'], 2, '--tasks'],
    [['--tasks', '100000'], 2, 'valid_unseen has tasks 0 to'],
    [['--tasks', '0', '--method', 'magic'], 2, '--method'],
    [['--tasks', '0', '--split', 'test'], 2, 'The split "test" is unknown'],
    [['--tasks', '0', '--env', 'kitchen'], 2, 'The world "kitchen" is unknown'],
    [
      ['--tasks', '0', '--config', scratchFile('c.toml', '[att]\nlora_rnk = 8')],
      1,
      'att.lora_rank',
    ],
  ])('%j ends with %i and says %s', async (args, code, words) => {
    const ran = await run('refused', ...args);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toContain(words);
  });
});
