import { describe, expect, test } from 'vitest';
import { comparable, type Side } from './comparable.ts';
import { readExperiment } from './experiment.ts';
import { planExperiment } from './plan.ts';

/** The arms of a file with these lines. */
function armsOf(lines: string) {
  const top = 'name = "x"\nenv = "household"\nsplit = "train"\ntasks = [0]\nseeds = [1, 2]\n';
  const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
  return planExperiment(readExperiment(top + lines), [task], null).arms;
}
const names = (lines: string, one: Side, than: Side) => {
  const pair = comparable(armsOf(lines), one, than);
  return pair && [pair.one.name, pair.than.name];
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
