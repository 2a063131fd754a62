// One process at a time in a piece of work, by a folder that only one can make; also over a shared file
// system. What a killed process left is taken over: at once on its own machine, else after some minutes.

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** Longer than any build takes on a busy machine. */
const LEFT_AFTER_MS = 5 * 60_000;

/** Does the work while no other process that names this folder does. Waits for its turn. */
export async function alone(folder, work) {
  for (;;) {
    try {
      mkdirSync(folder);
      break;
    } catch (thrown) {
      if (thrown.code !== 'EEXIST') throw thrown;
    }
    if (isLeft(folder)) rmSync(folder, { recursive: true, force: true });
    else await wait(100);
  }
  try {
    writeFileSync(
      join(folder, 'owner.json'),
      JSON.stringify({ host: hostname(), pid: process.pid }),
    );
    return await work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isLeft(folder) {
  const made = statSync(folder, { throwIfNoEntry: false });
  if (made === undefined) return false;
  if (Date.now() - made.mtimeMs > LEFT_AFTER_MS) return true;
  try {
    const { host, pid } = JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8'));
    return host === hostname() && !isAlive(pid);
  } catch {
    return false; // not written yet, or gone just now
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown.code === 'EPERM';
  }
}
