import { expect, test } from 'vitest';
import { between } from './between.ts';
import { mix, rowIn } from './mix.ts';
import { reportOf } from './report.ts';
import { headerOf, rowOf } from './testing-rows.ts';

const small = { ...headerOf(['frozen', 'attt']), model: 'small.gguf' };
const big = { ...small, ...headerOf(['frozen']), model: 'big.gguf', modelSha256: 'ee' };
const both = mix([small, big]);
const tasks = [0, 1, 2, 3, 4, 5];
const rows = [
  ...tasks.map((task) => rowIn(both, small)(rowOf('frozen', task, 1))),
  ...tasks.map((task) => rowIn(both, small)(rowOf('attt', task, 1))),
  ...tasks.map((task) => rowIn(both, big)(rowOf('frozen', task, 1, { solved: task < 5 }))),
];

test('the same arm of two models is compared by task and seed', () => {
  const [found, ...others] = between(both.arms, rows);
  expect(others).toEqual([]);
  expect([found?.one.name, found?.than.name]).toEqual([
    ...['frozen [big.gguf]', 'frozen [small.gguf]'],
  ]);
  // Five of six tasks more and none fewer: 2 of 32 sign patterns are as far.
  expect(found?.difference).toMatchObject({
    tasks: 6,
    pairs: 6,
    better: 5,
    worse: 0,
    adjusted: 1 / 16,
  });
  expect(found?.difference.points).toBeCloseTo(5 / 6, 12);
});

test('its report has a line for it; one experiment has none', () => {
  const heads = (blocks: ReturnType<typeof reportOf>['blocks']) =>
    blocks.flatMap((block) => (block.kind === 'heading' ? [block.text] : []));
  const six = (header: typeof both) => ({
    ...header,
    experiment: { ...header.experiment, tasks },
  });
  const whole = mix([six(small), six(big)]);
  const { blocks } = reportOf(whole, rows, '2026-11-30');
  expect(heads(blocks)).toContain('The same arm elsewhere');
  const table = blocks.filter((b) => b.kind === 'table').find(({ head }) => head.includes('than'));
  expect(table?.rows[0]?.slice(0, 3)).toEqual([
    ...['frozen [big.gguf]', 'frozen [small.gguf]', '+83.3'],
  ]);
  const alone = tasks.map((task) => rowOf('frozen', task, 1));
  expect(between(small.arms, alone)).toEqual([]);
  expect(heads(reportOf(small, alone, '2026-11-30').blocks)).not.toContain(
    'The same arm elsewhere',
  );
});
