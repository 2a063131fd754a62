import { expect, test } from 'vitest';
import {
  type ChartChoices,
  initialChoices,
  ownTexts,
  readChoices,
  readOwn,
  smoothingOf,
  withOwn,
  writeChoices,
} from './chart-choices.ts';

const chosen: ChartChoices = {
  charts: ['reward', 'kl', 'loss', 'gradient'],
  smoothing: 0.5,
  own: { kl: { smoothing: 0.9, scale: 'linear' }, loss: { smoothing: 0 } },
  axis: 'tokens',
  log: true,
};

test('a chart smoothed by itself is not changed by what all have, not even when that is nothing', () => {
  expect(smoothingOf(chosen, 'kl')).toBe(0.9);
  expect(smoothingOf(chosen, 'loss')).toBe(0);
  expect(smoothingOf(chosen, 'reward')).toBe(0.5);
});

test('a choice taken back leaves no trace, and leaves the others alone', () => {
  const own = withOwn(chosen.own, 'kl', { smoothing: undefined });
  expect(own.kl?.scale).toBe('linear');
  expect(smoothingOf({ ...chosen, own }, 'kl')).toBe(0.5);
  expect(withOwn(own, 'kl', { scale: undefined })).toEqual({ loss: { smoothing: 0 } });
});

test('what is remembered is read again; what is not understood is as at the first visit', () => {
  expect(readChoices(writeChoices(chosen))).toEqual(chosen);
  for (const text of [null, '', '{', '7', '[]', '{"charts":["kl","kl","kl","kl"],"axis":"moon"}']) {
    expect(readChoices(text), String(text)).toEqual(initialChoices);
  }
  expect(readOwn(['kl-99', 'moon-3', 'kl', 'loss-log-3', 'reward-x'])).toEqual({
    loss: { scale: 'log' },
  });
  expect(readOwn(ownTexts(chosen.own))).toEqual(chosen.own);
});
