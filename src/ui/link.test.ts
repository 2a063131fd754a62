import { expect, test } from 'vitest';
import { type Link, nowhere, readLink, writeLink } from './link.ts';

test('a link names a run, a step, an update and a token', () => {
  expect(readLink('#run=20261129-184211-9f3c&step=12&boundary=18&token=5')).toEqual({
    ...nowhere,
    run: '20261129-184211-9f3c',
    step: 12,
    boundary: 18,
    token: 5,
  });
});

test('a link says how they are looked at, and which runs are compared', () => {
  const text =
    '#colour=ce_change&tokens=matrix&panel=world&charts=reward.kl.loss.updates&smoothing=0.5&own=kl-60.loss-log&axis=tokens&log=true&range=10.20&compare=a.b';
  expect(readLink(text)).toEqual({
    ...nowhere,
    colour: 'ce_change',
    tokens: 'matrix',
    panel: 'world',
    charts: ['reward', 'kl', 'loss', 'updates'],
    smoothing: 0.5,
    own: ['kl-60', 'loss-log'],
    axis: 'tokens',
    log: true,
    range: [10, 20],
    compare: ['a', 'b'],
  });
  expect(readLink('#compare=')).toEqual({ ...nowhere, compare: [] });
});

test('nonsense counts as not named', () => {
  expect(readLink('#step=twelve&token=-1')).toEqual(nowhere);
  expect(readLink('#colour=red&tokens=text&charts=kl.kl2&smoothing=2&range=9.3')).toEqual(nowhere);
  expect(readLink('#task=repair&boundary=first')).toEqual(nowhere);
  expect(readLink('#task=repair.train.some')).toEqual(nowhere);
  expect(readLink('#task=repair.train.1.2')).toEqual(nowhere);
  expect(readLink('')).toEqual(nowhere);
});

test('writing keeps what others put into the hash, and what is written is read again', () => {
  const link: Link = {
    ...nowhere,
    run: 'a b&c',
    step: 3,
    colour: 'kl',
    range: [2, 40],
    compare: ['x', 'y'],
    task: ['repair', 'valid_seen', 7],
  };
  const hash = writeLink('#theme=dark&step=9&token=1', link);
  expect(hash).toContain('theme=dark');
  expect(hash).toContain('task=repair.valid_seen.7');
  expect(readLink(hash)).toEqual(link);
  expect(writeLink('#step=9&compare=', nowhere)).toBe('');
});
