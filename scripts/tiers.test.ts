import { expect, test } from 'vitest';
import { chosenTiers } from './tiers.mjs';

const chosen = (...words: string[]) =>
  chosenTiers(words, (file) => !file.includes('gone')).map(({ name, files }) =>
    [name, ...files].join(' '),
  );

test('without a word every tier is run but the slow one, which has a word of its own', () => {
  expect(chosen()).toEqual(['node', 'smollm2', 'gpu', 'e2e']);
  expect(chosen('--long')).toEqual(['node', 'smollm2', 'gpu', 'e2e', 'long']);
  expect(chosen('long')).toEqual(['long']);
  expect(chosen('gpu', 'node')).toEqual(['node', 'gpu']);
});

test('a file is run in its tier, with or without the name of that', () => {
  expect(chosen('e2e', 'e2e/x.spec.ts')).toEqual(['e2e e2e/x.spec.ts']);
  expect(chosen('e2e/x.spec.ts', 'src/a.test.ts', 'src/b.test.ts', 'gpu')).toEqual([
    ...['node src/a.test.ts src/b.test.ts', 'gpu', 'e2e e2e/x.spec.ts'],
  ]);
  expect(chosen('src/a.gpu.test.ts', 'src/a.policy.test.ts', 'src/a.long.test.ts')).toEqual([
    ...['smollm2 src/a.policy.test.ts', 'gpu src/a.gpu.test.ts', 'long src/a.long.test.ts'],
  ]);
});

test('a word that names no tests is refused, not run as none', () => {
  expect(() => chosen('nod')).toThrow('"nod" names no tests; expected a tier (node, smollm2, gpu');
  expect(() => chosen('e2e/gone.spec.ts')).toThrow('"e2e/gone.spec.ts" names no tests');
  expect(() => chosen('src/ui/link.ts')).toThrow('names no tests');
});
