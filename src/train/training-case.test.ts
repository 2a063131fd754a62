/** What is no training case is refused by the name of its field. */

import { expect, test } from 'vitest';
import cases from '../../e2e/fixtures/engine/tiny_training.json' with { type: 'json' };
import { readTrainingCase } from './training-case.ts';

const { visible } = cases;
const fields = [
  ...(['ids', 'first_label_index', 'weights', 'target_modules', 'r', 'lora_alpha'] as const),
  ...(['lr', 'steps', 'init', 'adam'] as const),
];

test.each(fields)('a case without %s says so', (field) => {
  const { [field]: _, ...rest } = visible;
  expect(() => readTrainingCase(rest)).toThrow(
    new RegExp(`^Training case: "?${field}"? is missing; expected `),
  );
});

test.each([
  [{ r: 0 }, 'r is 0; expected a whole number of at least 1.'],
  [{ r: -2 }, 'r is -2; expected a whole number of at least 1.'],
  [{ r: 1.5 }, 'r is 1.5; expected a whole number of at least 1.'],
  [{ steps: -1 }, 'steps is -1; expected a whole number of at least 0.'],
  [{ steps: 1.5 }, 'steps is 1.5; expected a whole number of at least 0.'],
  [{ ids: [3, 1.5] }, 'ids is 1.5; expected a whole number of at least 0.'],
  [{ ids: [3, -1] }, 'ids is -1; expected a whole number of at least 0.'],
  [{ lr: '0.1' }, 'lr is "0.1"; expected a number.'],
  [{ target_modules: [] }, 'target_modules is []; expected at least one name, and none twice.'],
  [
    { target_modules: ['q_proj', 'q_proj'] },
    'target_modules is ["q_proj","q_proj"]; expected at least one name, and none twice.',
  ],
  [{ target_modules: ['lm_head'] }, 'target_modules is "lm_head"; expected one of q_proj, '],
  [
    { weights: visible.weights.slice(1) },
    'weights is "5 numbers from index 4 on"; expected one for each of the 10 ids',
  ],
  [
    { first_label_index: 0, weights: visible.ids.map(() => 1) },
    'weights is "10 numbers from index 0 on"; expected one for each of the 10 ids',
  ],
])('%j is refused', (change, message) => {
  expect(() => readTrainingCase({ ...visible, ...change })).toThrow(message);
});
