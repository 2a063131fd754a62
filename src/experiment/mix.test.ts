import { expect, test } from 'vitest';
import type { MethodName } from '../config.ts';
import { claims } from './claims.ts';
import { checkSame, type Header, plannedKeys } from './header.ts';
import { mix, rowIn } from './mix.ts';
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
  expect(attt?.difference).toMatchObject({ points: 0, tasks: 8, pairs: 8, better: 0, worse: 0 });
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

const small = { ...headerOf(['frozen', 'attt']), model: 'small.gguf', planned: 8 };
const big = { ...small, model: 'big.gguf', modelSha256: 'ee' };

test('two models stand side by side, each arm beside the frozen one of its own model', () => {
  const models = mix([small, big]);
  expect(models.arms.map(({ name, of }) => [name, of])).toEqual([
    ['frozen [small.gguf]', 'small.gguf'],
    ['attt [small.gguf]', 'small.gguf'],
    ['frozen [big.gguf]', 'big.gguf'],
    ['attt [big.gguf]', 'big.gguf'],
  ]);
  expect(models.planned).toBe(16);
  const solved = (header: Header, from: number) =>
    (['frozen', 'attt'] as const).flatMap((arm, i) =>
      [0, 1, 2, 3].map((task) =>
        rowIn(models, header)(rowOf(arm, task, 1, { solved: task >= from - i })),
      ),
    );
  // Of four tasks small solves none frozen and one trained, big two and three.
  const mixed = [...solved(small, 4), ...solved(big, 2)];
  expect(new Set(mixed.map(({ key }) => key)).size).toBe(16);
  expect(new Set(plannedKeys(models))).toEqual(new Set(mixed.map(({ key }) => key)));
  const scores = scorecard(models, mixed);
  expect(scores.map(({ solved: n }) => n)).toEqual([0, 1, 2, 3]);
  expect(scores.map(({ difference }) => difference?.points)).toEqual([
    ...[undefined, 0.25, undefined, 0.25],
  ]);
  const [first] = reportOf(models, mixed, '2026-11-30').blocks;
  expect(first).toMatchObject({ text: expect.stringContaining('(small.gguf; big.gguf)') });
  expect(JSON.stringify(claims(scores, mixed))).toContain(
    'attt [small.gguf] − frozen [small.gguf]',
  );
});

test('the claims of each model are judged by its own arms, in a table of its own', () => {
  const tasks = Array.from({ length: 100 }, (_, i) => i);
  const experiment = { ...small.experiment, tasks };
  const [one, other] = [
    { ...small, experiment },
    { ...big, experiment },
  ];
  const models = mix([one, other]);
  // Of 100 tasks, training takes 40 from small and gives 40 to big.
  const rows = [one, other].flatMap((header) =>
    tasks.flatMap((task) =>
      (['frozen', 'attt'] as const).map((arm) =>
        rowIn(
          models,
          header,
        )(
          rowOf(arm, task, 1, {
            solved: task < 40 && (arm === 'attt') === (header === other),
          }),
        ),
      ),
    ),
  );
  const { blocks } = reportOf(models, rows, '2026-11-30');
  const from = blocks.findIndex((block) => block.kind === 'text' && /^Each claim/.test(block.text));
  const judged = blocks.slice(from + 1, from + 7).map((block) => {
    if (block.kind === 'text') return block.text;
    if (block.kind === 'table') return block.rows[0]?.slice(1).join(': ');
    return block.kind;
  });
  expect(judged).toEqual([
    'The arms of small.gguf:',
    expect.stringMatching(
      /^does not hold: attt \[small.gguf\] − frozen \[small.gguf\]: -40\.0 points/,
    ),
    expect.stringMatching(/^Not tried by these arms: .*; K = 1 is worse than K = 5; /),
    'The arms of big.gguf:',
    expect.stringMatching(/^holds: attt \[big.gguf\] − frozen \[big.gguf\]: \+40\.0 points/),
    expect.stringMatching(/^Not tried by these arms: /),
  ]);
});

test('what tells arms apart is named by as few facts as do', () => {
  const names = (...headers: [Header, ...Header[]]) => mix(headers).arms.map(({ name }) => name);
  const one = headerOf(['frozen']);
  expect(names(one, { ...one, modelSha256: 'ee' })).toEqual(['frozen [ff]', 'frozen [ee]']);
  expect(names(one, { ...one, backend: 'webgpu' })).toEqual(['frozen [wasm]', 'frozen [webgpu]']);
  expect(names(one, { ...one, appVersion: '1+gbbb' })).toEqual(['frozen [0]', 'frozen [1]']);
  const cpu: Header = { ...big, arms: one.arms, backend: 'cpu' };
  const both: Header = { ...cpu, backend: 'wasm' };
  expect(names(one, cpu, both)).toEqual([
    ...['frozen [model.gguf wasm]', 'frozen [big.gguf cpu]', 'frozen [big.gguf wasm]'],
  ]);
});

test('arms of one name at other settings or from other adapters are kept apart', () => {
  const arms = seen.arms.map((arm) => ({ ...arm, settings: { ...arm.settings, lora_rank: 4 } }));
  const named = { ...seen.experiment, name: 'rank 4' };
  const rank4 = { ...seen, experiment: named, arms };
  expect(mix([unseen, rank4]).arms.map(({ name }) => name)).toEqual([
    ...['frozen [by hand]', 'attt [by hand]'],
    ...['frozen [rank 4]', 'attt [rank 4]', 'naive [rank 4]'],
  ]);
  const started = seen.arms.map((arm) => ({ ...arm, adapter: 'one.gguf' }));
  const apart = mix([unseen, { ...seen, arms: started }]);
  expect(apart.mixed?.labels).toEqual(['1', '2']);
});

test('splits of one model share its arms beside another model', () => {
  const other = { ...seen, modelSha256: 'ee', model: 'big.gguf' };
  const all = mix([unseen, other, seen]);
  expect(all.mixed?.labels).toEqual(['model.gguf', 'big.gguf', 'model.gguf']);
  expect(all.arms.map(({ name }) => name)).toEqual([
    ...['frozen [model.gguf]', 'attt [model.gguf]', 'frozen [big.gguf]', 'attt [big.gguf]'],
    ...['naive [big.gguf]', 'naive [model.gguf]'],
  ]);
  const named = rowIn(all, mix([unseen, seen]))(rowOf('attt', 0, 1));
  expect(named.key).toBe('attt [model.gguf]/valid_seen/0/1');
  // Of a mix whose names were others: the model's only while one backend was in it.
  const cpu: Header = { ...big, backend: 'cpu' };
  const before = mix([small, cpu]);
  const after = mix([before, big]);
  const row = rowIn(before, cpu)(rowOf('attt', 0, 1));
  expect([row.arm, rowIn(after, before)(row).arm]).toEqual([
    ...['attt [big.gguf]', 'attt [big.gguf cpu]'],
  ]);
});

test('a split that is other tasks elsewhere is refused', () => {
  expect(() => mix([seen, { ...seen, taskSet: 'efgh', modelSha256: 'ee' }])).toThrow(
    '"valid_seen" is not the same tasks in one experiment as in another',
  );
});

test('an arm that one experiment could not run is run where another could', () => {
  const arms = unseen.arms.map((arm) =>
    arm.method === 'attt' ? { ...arm, notApplicable: 'No room.' } : arm,
  );
  expect(mix([{ ...unseen, arms }, seen]).arms[1]?.notApplicable).toBeNull();
});
