import { describe, expect, test, vi } from 'vitest';
import { household } from './household.ts';
import { computeTaskSetHash, taskSetHash } from './task-set.ts';
import frozen from './task-sets.json';

vi.setConfig({ testTimeout: 120_000 });

describe('a frozen task set', () => {
  test.each(['valid_seen', 'valid_unseen', 'unseen-1000'])('%s has its hash', (split) => {
    const { id } = household.description;
    expect(computeTaskSetHash(id, split)).toBe(taskSetHash(id, split));
  });

  test('differs from every other', () => {
    const hashes = Object.values(frozen).flatMap((sets) => Object.values(sets));
    expect(hashes.length).toBeGreaterThan(4);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('that is unknown is refused by name', () => {
    expect(() => taskSetHash(household.description.id, 'mine')).toThrow('"mine"');
  });
});
