import { expect, test } from 'vitest';
import type { MethodName } from '../config.ts';
import { checkSame, type Header } from './header.ts';
import { mix } from './mix.ts';
import { reportOf } from './report.ts';
import { scorecard } from './scorecard.ts';
import { headerOf, rowOf } from './testing-rows.ts';

const of = (split: string, methods: readonly MethodName[]): Header => {
  const plain = headerOf(methods);
  const experiment = { ...plain.experiment, split };
  return { ...plain, experiment, taskSet: `tasks of ${split}`, planned: 4 * methods.length };
};
const unseen = of('valid_unseen', ['frozen', 'attt']);
const seen = of('valid_seen', ['frozen', 'attt', 'naive']);
const both = mix([unseen, seen]);

/** Nothing of valid_unseen is solved and all of valid_seen, by every arm alike. */
const rows = [unseen, seen].flatMap(({ experiment: { split }, arms }) =>
  arms.flatMap(({ method }) =>
    [0, 1, 2, 3].map((task) => ({
      ...rowOf(method, task, 1, { solved: split === 'valid_seen', start: `${split} ${task}` }),
      key: `${method}/${split}/${task}/1`,
      split,
    })),
  ),
);

test('experiments that differ stand in one table, with the arms of all', () => {
  expect(both.arms.map(({ name }) => name)).toEqual(['frozen', 'attt', 'naive']);
  expect(both.planned).toBe(20); // 8 and 12, none of them in both
  expect(both.mixed?.differences).toEqual([
    'split: "valid_unseen" and "valid_seen"',
    'task set: "tasks of valid_unseen" and "tasks of valid_seen"',
    'arms of one alone: none and naive',
  ]);
});

test('tasks of two splits are not one task: arms that do the same differ by nothing', () => {
  const [frozen, attt, naive] = scorecard(both, rows);
  expect(frozen).toMatchObject({ tasks: 8, episodes: 8, solved: 4, passes: [{ k: 1, at: 0.5 }] });
  expect(attt?.difference).toMatchObject({ points: 0, tasks: 8, pairs: 8, discordant: 0 });
  expect(naive).toMatchObject({ tasks: 4, difference: { points: 0, pairs: 4 } });
});

test('a report of a mix says so before all else, and gives the facts of each', () => {
  const { blocks } = reportOf(both, rows, '2026-11-30', ['A note.']);
  expect(blocks[0]).toMatchObject({
    kind: 'text',
    text: expect.stringMatching(
      /^Mixed: .* 2 experiments that differ \(split: "valid_unseen" and "valid_seen"; /,
    ),
  });
  const facts = blocks.find((block) => block.kind === 'table');
  expect(facts?.kind === 'table' && facts.rows.slice(0, 3)).toEqual([
    [
      'World and split',
      'household/ALFWorld-v0.4, valid_unseen; household/ALFWorld-v0.4, valid_seen',
    ],
    [
      'Task set',
      "tasks of valid_unseen; tasks of valid_seen (hash of every task's first world and text)",
    ],
    ['Tasks, seeds', '4 tasks, seeds 1'],
  ]);
  expect(JSON.stringify(reportOf(seen, [], '2026-11-30').blocks)).not.toContain('Mixed');
});

test('shards of one experiment are no mix, and a mix mixed again is the same', () => {
  expect(mix([seen, { ...seen, appVersion: '0+gbbb' }])).toEqual(seen);
  expect(mix([unseen, both])).toEqual(both);
  expect(mix([both, seen])).toEqual(both);
  expect(() => checkSame(both, unseen, 'there')).toThrow('experiments mixed there: 2 and 1');
});

test('episodes that both plan are planned once', () => {
  const seeds = [1, 2];
  const more = { ...seen, experiment: { ...seen.experiment, seeds } };
  const mixed = mix([seen, more]);
  expect(mixed.planned).toBe(24); // 3 arms × 4 tasks × 2 seeds
  expect(mixed.experiment.seeds).toEqual(seeds);
});

test('one name for two arms is refused', () => {
  const arms = seen.arms.map((arm) => ({ ...arm, settings: { ...arm.settings, lora_rank: 4 } }));
  expect(() => mix([unseen, { ...seen, arms }])).toThrow(
    '"frozen" is another arm in one experiment than in another (lora_rank: 8 and 4)',
  );
  const started = seen.arms.map((arm) => ({ ...arm, adapter: 'one.gguf' }));
  expect(() => mix([unseen, { ...seen, arms: started }])).toThrow('starts from other adapters');
});

test('an arm that one experiment could not run is run where another could', () => {
  const arms = unseen.arms.map((arm) =>
    arm.method === 'attt' ? { ...arm, notApplicable: 'No room.' } : arm,
  );
  expect(mix([{ ...unseen, arms }, seen]).arms[1]?.notApplicable).toBeNull();
});
