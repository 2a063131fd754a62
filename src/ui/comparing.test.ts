import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { comparedIds, comparedRuns } from './comparing.ts';
import { foldRun } from './run-view.ts';

test('a chosen run without events, or that is gone, takes no number from those behind it', () => {
  const view = (id: string) => {
    const run = foldRun(madeRun({ steps: 2, seed: 1 }), { id, name: id });
    if (!run) throw new Error('the made run starts');
    return run;
  };
  const comparing = {
    picked: ['failed at once', 'a', 'deleted', 'b'],
    views: { b: view('b'), a: view('a'), other: view('other') },
  };
  expect(comparedIds(comparing)).toEqual(['a', 'b']);
  expect(comparedRuns(comparing).map(({ id }) => id)).toEqual(['a', 'b']);
});
