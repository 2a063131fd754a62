import { describe, expect, test, vi } from 'vitest';
import { household } from './household.ts';
import { REPAIR_ID } from './repair-description.ts';
import { computeTaskSetHash, taskSetHash } from './task-set.ts';
import frozen from './task-sets.json';

vi.setConfig({ testTimeout: 120_000 });

describe('a frozen task set', () => {
  const { id } = household.description;
  test.each([
    ...['valid_seen', 'valid_unseen', 'unseen-1000'].map((split) => [id, split] as const),
    [REPAIR_ID, 'valid_unseen'] as const,
  ])('%s %s has its hash', async (env, split) => {
    expect(await computeTaskSetHash(env, split)).toBe(taskSetHash(env, split));
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
