/** What the token view says of a token. */

import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { foldRun } from './run-view.ts';
import {
  earlierSteps,
  ngramText,
  paint,
  scaleOf,
  tokenText,
  tokenValue,
  visibleText,
} from './tokens.ts';

const view = foldRun(madeRun({ steps: 50, talk: 2, seed: 6 }), { id: null, name: 'made' });
const boundaries = view?.boundaries ?? [];

test('what cannot be seen is written out', () => {
  expect(visibleText('\n')).toBe('\\n');
  expect(visibleText('  ')).toBe('␣␣');
  expect(visibleText(' go\t')).toBe(' go\\t');
  expect(visibleText('a\u200bb\u0007')).toBe('a\\u200bb\\u0007');
});

test('in the running text only what draws nothing or turns the direction is written out', () => {
  expect(tokenText(' the\n')).toBe(' the\n');
  expect(tokenText('👩\u200d👧 שלום')).toBe('👩\u200d👧 שלום');
  expect(tokenText('a\u202eb\u0000\u2066')).toBe('a\\u202eb\\u0000\\u2066');
});

test('context tokens have no value', () => {
  const tokens = boundaries[0]?.tokens;
  expect(tokens?.weights[0]).toBe(0);
  expect(tokens && tokenValue(tokens, 0, 'ce_before')).toBeNull();
});

test('the change is after minus before, and its scale has zero in the middle', () => {
  const updated = boundaries.find((boundary) => boundary.outcome === 'updated');
  const tokens = updated?.tokens;
  if (!tokens) throw new Error('the made run updates');
  const change = tokenValue(tokens, 3, 'ce_change');
  expect(change).toBeCloseTo((tokens.ceAfter[3] ?? 0) - (tokens.ceBefore[3] ?? 0));
  const scale = scaleOf(boundaries, 'ce_change');
  expect(scale.low).toBe(-scale.high);
});

test('every token that was seen names the steps where its n-gram occurred', () => {
  if (!view) throw new Error('the made run starts');
  for (const boundary of boundaries) {
    boundary.tokens?.counts.forEach((count, j) => {
      const steps = earlierSteps(view, boundary, j, 3);
      expect(steps.length > 0).toBe(count > 0);
      expect(ngramText(boundary.tokens as never, j, 3) === null).toBe(count === 0); // known to be there
      expect(steps.every((t) => t < boundary.t)).toBe(true);
    });
  }
});

test('text on every colour of every map has a contrast of at least 4.5', () => {
  const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  for (const quantity of ['weight', 'ce_before', 'ce_change'] as const) {
    const diverging = quantity === 'ce_change';
    for (const dark of [false, true]) {
      for (let i = 0; i <= 40; i++) {
        const value = diverging ? i / 20 - 1 : i / 40;
        const scale = { low: diverging ? -1 : 0, high: 1, diverging };
        const { background, ink } = paint(value, scale, quantity, dark);
        const [r = 0, g = 0, b = 0] = (background.match(/\d+/g) ?? []).map((c) =>
          linear(Number(c) / 255),
        );
        const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        const contrast = ink === '#000' ? (light + 0.05) / 0.05 : 1.05 / (light + 0.05);
        expect(contrast).toBeGreaterThanOrEqual(4.5);
      }
    }
  }
});
