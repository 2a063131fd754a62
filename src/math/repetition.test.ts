import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jaccard, nearest, words } from './repetition.ts';

const similarity = (a: string, b: string) => jaccard(words(a), words(b));

test('Chinese without spaces is compared by pairs of neighbouring characters', () => {
  const a = '先打开冰箱，再拿苹果';
  expect(similarity(a, a)).toBe(1);
  expect(similarity(a, '窗外正在下雨')).toBe(0);
  expect(similarity(a, '先打开柜子，再拿杯子')).toBeCloseTo(3 / 11, 12); // by hand: 3 of 11 pairs
});

test('pairs never join characters across a gap', () => {
  expect([...words('门开 stop 关灯')].sort()).toEqual(['stop', '关灯', '门开'].sort());
});

test('English ratios are those computed by hand, and the maximum is the nearest text', () => {
  const earlier = [
    'Look inside the fridge before the cabinet',
    'Check the fridge first',
    'Never repeat an action that failed',
  ];
  const now = 'Check inside the fridge first';
  expect(earlier.map((text) => similarity(now, text))).toEqual([0.375, 0.8, 0]);
  expect(nearest(words(now), earlier.map(words))).toEqual({ ratio: 0.8, index: 1 });
});

test('case, width and composition do not matter; marks belong to their letters', () => {
  expect(similarity('ＡＢＣ１ Café', 'abc1 CAFE\u0301')).toBe(1);
  expect([...words('हिन्दी 42x')]).toEqual(['हिन्दी', '42x']);
});

test('two texts without words have similarity 0', () => {
  expect(similarity('', '...')).toBe(0);
  expect(nearest(words('go'), [])).toEqual({ ratio: 0, index: null });
});

test('similarity is symmetric, within [0, 1], and 1 with itself when there are words', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const ab = similarity(a, b);
      expect(ab).toBe(similarity(b, a));
      expect(ab).toBeGreaterThanOrEqual(0);
      expect(ab).toBeLessThanOrEqual(1);
      expect(similarity(a, a)).toBe(words(a).size === 0 ? 0 : 1);
    }),
  );
});
