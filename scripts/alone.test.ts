import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alone } from './alone.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'attt-alone-'));

test('processes that start together do the work one after another', async () => {
  const [lock, log] = [join(scratch, 'lock'), join(scratch, 'log')];
  const script = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as wait } from 'node:timers/promises';
    const { alone } = await import(${JSON.stringify(join(import.meta.dirname, 'alone.mjs'))});
    await alone(${JSON.stringify(lock)}, async () => {
      appendFileSync(${JSON.stringify(log)}, 'in ');
      await wait(50);
      appendFileSync(${JSON.stringify(log)}, 'out ');
    });`;
  await Promise.all(
    Array.from({ length: 4 }, () => {
      const args = ['--input-type=module', '-e', script];
      return new Promise((end) => spawn(process.execPath, args).on('close', end));
    }),
  );
  expect(readFileSync(log, 'utf8')).toBe('in out '.repeat(4));
  expect(existsSync(lock)).toBe(false);
});

test('what a killed process left is taken over, and what a living one holds is not', async () => {
  const lock = join(scratch, 'left');
  const hold = (pid: number) => {
    mkdirSync(lock);
    writeFileSync(join(lock, 'owner.json'), JSON.stringify({ host: hostname(), pid }));
  };
  const { pid: dead } = spawnSync(process.execPath, ['-e', '']);
  hold(dead);
  expect(await alone(lock, async () => 'done')).toBe('done');
  hold(process.pid);
  const log = join(scratch, 'waiting');
  const waiting = alone(lock, async () => appendFileSync(log, 'in'));
  await new Promise((later) => setTimeout(later, 300));
  expect(existsSync(log)).toBe(false);
  rmSync(lock, { recursive: true });
  await waiting;
  expect(existsSync(log)).toBe(true);
});
