import { describe, expect, test } from 'vitest';
import { methodNames } from '../config.ts';
import { withMethod } from '../train/methods.ts';
import { apart, baselineOf, comparable, type Side } from './comparable.ts';
import { readExperiment } from './experiment.ts';
import { planExperiment } from './plan.ts';

/** The arms of a file with these lines. */
function armsOf(lines: string) {
  const top = 'name = "x"\nenv = "household"\nsplit = "train"\ntasks = [0]\nseeds = [1, 2]\n';
  const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
  return planExperiment(readExperiment(top + lines), [task], null).arms;
}
const names = (lines: string, one: Side, than: Side) => {
  const [pair] = comparable(armsOf(lines), one, than);
  return pair ? [pair.one.name, pair.than.name] : null;
};
const attt: Side = { method: 'attt' };
const frozen: Side = { method: 'frozen', untrained: true };
const every = (k: number): Side => ({
  method: 'attt',
  at: { field: 'update_interval_k', value: k },
});
const rank = (r: number): Side => ({ method: 'attt', at: { field: 'lora_rank', value: r } });

describe('the arms of a comparison', () => {
  test('are found by what they are set to, whatever their names', () => {
    const ten =
      'methods = ["frozen", "attt"]\n[settings]\nupdate_interval_k = 10\n[[sweep]]\nmethod = "attt"\nupdate_interval_k = [1, 5, 10]';
    // The plain arm has K = 10 here, so that the sweep adds two.
    expect(armsOf(ten).map(({ name }) => name)).toEqual([
      ...['frozen', 'attt', 'attt update_interval_k=1', 'attt update_interval_k=5'],
    ]);
    expect(names(ten, every(5), every(1))).toEqual([
      'attt update_interval_k=5',
      'attt update_interval_k=1',
    ]);
    expect(names(ten, every(10), every(1))).toEqual(['attt', 'attt update_interval_k=1']);
    expect(names(ten, attt, frozen)).toEqual(['attt', 'frozen']);
  });

  test('are found in a sweep without a plain arm, and in a grid', () => {
    const sweep = 'methods = ["frozen"]\n[[sweep]]\nmethod = "attt"\nupdate_interval_k = [1, 5]';
    expect(names(sweep, attt, frozen)).toEqual(['attt update_interval_k=5', 'frozen']);
    const grid =
      'methods = ["frozen"]\n[[sweep]]\nmethod = "attt"\nlora_rank = [4, 16, 8]\nupdate_interval_k = [1, 10]';
    expect(names(grid, every(10), every(1))).toEqual([
      'attt lora_rank=4 update_interval_k=10',
      'attt lora_rank=4 update_interval_k=1',
    ]);
    expect(names(grid, rank(16), rank(8))).toEqual([
      'attt lora_rank=16 update_interval_k=1',
      'attt lora_rank=8 update_interval_k=1',
    ]);
    expect(names(grid, rank(16), rank(32))).toBeNull();
    // Neither rank nor K does anything in an arm that never trains.
    expect(names(grid, attt, frozen)).toEqual(['attt lora_rank=4 update_interval_k=1', 'frozen']);
  });

  test('differ in nothing else: neither in a setting nor in the adapter that they start from', () => {
    const apart =
      '[[sweep]]\nmethod = "attt"\nlora_rank = [4]\nlearning_rate = [0.001]\n[[sweep]]\nmethod = "attt"\nlora_rank = [8]\nlearning_rate = [0.002]';
    expect(names(apart, rank(4), rank(8))).toBeNull();
    const trained =
      '[[sweep]]\nmethod = "naive"\nlearning_rate = [0.001, 0.002]\n[[sweep]]\nmethod = "attt"\nlearning_rate = [0.002]';
    expect(names(trained, attt, { method: 'naive' })).toEqual([
      'attt learning_rate=0.002',
      'naive learning_rate=0.002',
    ]);
    const sampled = 'methods = ["frozen"]\n[[sweep]]\nmethod = "attt"\ntemperature = [0.5]';
    expect(names(sampled, attt, frozen)).toBeNull();
    const started = 'methods = ["frozen"]\n[[sweep]]\nmethod = "attt"\nadapter = ["one.gguf"]';
    expect(names(started, attt, frozen)).toBeNull();
  });
});

describe('the frozen arm that an arm is compared to', () => {
  const against = (lines: string) => {
    const arms = armsOf(lines);
    return Object.fromEntries(arms.map((arm) => [arm.name, baselineOf(arm, arms)?.name ?? null]));
  };

  test('acts at the same settings, whatever differs in training', () => {
    expect(
      against(
        'methods = ["frozen", "attt"]\n[[sweep]]\nmethod = "attt"\nlora_rank = [4]\n[[sweep]]\nmethod = "attt"\nstep_limit = [10, 200]\n[[sweep]]\nmethod = "frozen"\nstep_limit = [10]',
      ),
    ).toEqual({
      frozen: null,
      attt: 'frozen',
      'attt lora_rank=4': 'frozen',
      'attt step_limit=10': 'frozen step_limit=10',
      'attt step_limit=200': null,
      'frozen step_limit=10': 'frozen',
    });
  });

  test('is the plain one for every control, although it samples or reads otherwise', () => {
    const methods = methodNames.filter((name) => name !== 'frozen');
    const lines = `methods = ${JSON.stringify(['frozen', ...methods])}`;
    const plain = Object.fromEntries(methods.map((name) => [name, 'frozen']));
    expect(against(lines)).toEqual({ frozen: null, ...plain });
    // As in the manifests of runs, where the method has set its own already.
    const arms = armsOf(lines).map((arm) => ({ ...arm, settings: withMethod(arm.settings) }));
    expect(arms.map((arm) => baselineOf(arm, arms)?.name ?? null)).toEqual([
      null,
      ...methods.map(() => 'frozen'),
    ]);
    expect(against('methods = ["attt"]')).toEqual({ attt: null });
  });

  test('starts from the same adapter', () => {
    const lines =
      'methods = ["frozen"]\n[[sweep]]\nmethod = "attt"\nadapter = ["a", "b"]\n[[sweep]]\nmethod = "frozen"\nadapter = ["a"]';
    expect(against(lines)).toEqual({
      frozen: null,
      'attt adapter=a': 'frozen adapter=a',
      'attt adapter=b': null,
      'frozen adapter=a': 'frozen',
    });
    const [frozen, , b] = armsOf(lines);
    if (!frozen || !b) throw new Error('no arms');
    expect(apart(b, frozen)).toEqual(['the adapter it starts from']);
    const { adapter: _, ...fresh } = b;
    expect(apart(fresh, frozen)).toEqual([]);
  });
});
