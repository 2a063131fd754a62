import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { csvOf } from './csv.ts';
import { foldRun } from './run-view.ts';
import { sortedBy } from './sorting.ts';
import { tokensCsv, tokensSvg } from './token-figure.ts';
import { scaleOf } from './tokens.ts';

const events = madeRun({ steps: 30, talk: 1, seed: 4 });
const run = foldRun(events, { id: null, name: 'made' });
if (!run) throw new Error('the made run starts');
const tokens = run.boundaries.flatMap(({ tokens: columns }) => columns?.ids ?? []);

test('a cell is quoted where a comma, a quote or a line break is in it (RFC 4180)', () => {
  expect(csvOf([['a', 'b,c', 'd"e', 'f\ng', null, 1.5]])).toBe('a,"b,c","d""e","f\ng",,1.5\n');
});

test('the CSV has a line for every token of every boundary', () => {
  expect(tokensCsv(run).match(/^\d+,/gm)).toHaveLength(tokens.length);
});

test('the picture has a cell for every trained token and a label for every boundary', () => {
  const svg = tokensSvg(run, 'weight', scaleOf(run.boundaries, 'weight'));
  const trained = run.boundaries.flatMap(
    ({ tokens: columns }) => columns?.weights.filter((w) => w > 0) ?? [],
  );
  expect(svg.match(/M\d+ \d+h/g)).toHaveLength(trained.length);
  expect(svg.match(/>step \d+</g)).toHaveLength(run.boundaries.length);
});

test('a picture of 200 boundaries of 300 tokens is there at once', () => {
  const [first] = run.boundaries;
  if (!first?.tokens) throw new Error('the made run has tokens');
  const long = {
    ...first.tokens,
    ids: Array.from({ length: 300 }, (_, j) => j),
    weights: Array.from({ length: 300 }, () => 1),
  };
  const boundary = { ...first, tokens: long };
  const big = { ...run, boundaries: Array.from({ length: 200 }, () => boundary) };
  const began = performance.now();
  const svg = tokensSvg(big, 'weight', scaleOf(run.boundaries, 'weight'));
  expect(svg.match(/M\d+ \d+h/g)).toHaveLength(200 * 300);
  // 0.1 s; where each cell copied those of its shade it took a minute.
  expect(performance.now() - began).toBeLessThan(2000);
});

test('rows without a value come last whichever way they are sorted', () => {
  const rows = [{ x: 2 }, { x: null }, { x: 10 }];
  expect(sortedBy(rows, ({ x }) => x, false).map(({ x }) => x)).toEqual([2, 10, null]);
  expect(sortedBy(rows, ({ x }) => x, true).map(({ x }) => x)).toEqual([10, 2, null]);
});
