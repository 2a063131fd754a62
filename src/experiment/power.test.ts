import { expect, test } from 'vitest';
import { readExperiment } from './experiment.ts';
import { planExperiment } from './plan.ts';
import { designOf, differenceError, powerInWords, smallestTold } from './power.ts';

// [tasks, seeds, comparisons, standard error, smallest difference], by scripts/power.py.
const cases = [
  [134, 1, 1, 0.042977, 0.120403],
  [134, 3, 1, 0.031386, 0.08793],
  [134, 3, 5, 0.031386, 0.10726],
  [134, 3, 23, 0.031386, 0.122625],
  [1000, 1, 1, 0.015732, 0.044075],
  [1000, 3, 23, 0.011489, 0.044888],
  [1000, 5, 5, 0.010436, 0.035663],
] as const;

test.each(cases)(
  '%i tasks × %i seeds with %i comparisons tell what the reference says',
  (tasks, seeds, comparisons, error, told) => {
    expect(differenceError({ tasks, seeds })).toBeCloseTo(error, 5);
    expect(smallestTold({ tasks, seeds, comparisons })).toBeCloseTo(told, 5);
  },
);

test('a plan is told what it can tell alone and among all its comparisons', () => {
  const words = powerInWords({ tasks: 134, seeds: 3, comparisons: 23 });
  expect(words).toContain('8.8 points or more, 12.3 points if all 23 are compared');
  expect(powerInWords({ tasks: 134, seeds: 3, comparisons: 1 })).not.toContain('compared');
});

test('pairs that were seen take the place of the assumed share', () => {
  // (1.95996 + 0.84162) · √((0.1 − 0.0025) / 1000) = 0.02766
  expect(smallestTold({ tasks: 1000, seeds: 1, comparisons: 1, discordant: 0.1 })).toBeCloseTo(
    0.02766,
    5,
  );
  const words = powerInWords({ tasks: 1000, seeds: 1, comparisons: 1, discordant: 0.1 });
  expect(words).toContain('2.8 points or more; so far one arm alone solves 10 % of the pairs.');
});

// By hand, (1.95996 + 0.84162) · √((0.25 − 0.0025) · (1 + (s − 1) · 0.3) / (n · s)): 1 task × 1 seed 1.394, 2 × 1 0.986;
// 2 tasks with 5 comparisons, 2.57583 in place of 1.95996: 1.202.
test('a plan of too few tasks can tell no difference, and says so', () => {
  expect(smallestTold({ tasks: 1, seeds: 1, comparisons: 1 })).toBeNull();
  expect(smallestTold({ tasks: 2, seeds: 1, comparisons: 1 })).toBeCloseTo(0.986, 3);
  expect(powerInWords({ tasks: 1, seeds: 1, comparisons: 2 })).toContain(
    'No difference to frozen, however large, is told from 0 with 80 % power',
  );
  expect(powerInWords({ tasks: 2, seeds: 1, comparisons: 5 })).toContain(
    'if it is 98.6 points or more, and none if all 5 are compared',
  );
});

test('a plan has a comparison for each arm that a frozen one stands beside', () => {
  const design = (lines: string) => {
    const top = 'name = "x"\nenv = "household"\nsplit = "train"\ntasks = [0]\nseeds = [1, 2]\n';
    const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
    return designOf(planExperiment(readExperiment(top + lines), [task], null));
  };
  const sweep = '[[sweep]]\nmethod = "attt"\nstep_limit = [50, 200]';
  expect(design(`methods = ["frozen", "naive"]\n${sweep}`)).toEqual({
    ...{ tasks: 1, seeds: 2, comparisons: 2 },
  });
  expect(design('methods = ["attt", "naive"]')).toBeNull();
  expect(design('methods = ["frozen"]')).toBeNull();
});
