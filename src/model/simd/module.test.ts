import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('the committed module is what its sources compile to', { timeout: 240_000 }, () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-simd.mjs', '--check']);
  expect(stderr.toString()).toBe('');
  expect(status).toBe(0);
});
