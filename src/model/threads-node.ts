/** Threads for the kernels in Node. Node only. */

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { defaultThreads, helpKernels, type ThreadHost } from './simd/helper.ts';

/** What a thread runs: a bundle has no file of its own for it. */
const SCRIPT = `const { parentPort, workerData } = require('node:worker_threads');
(${helpKernels})(workerData, () => parentPort.postMessage('ready'));`;

/** `count` threads in all; without it as many as {@link defaultThreads} says. They keep no process alive. */
export function nodeThreads(count = defaultThreads(availableParallelism())): ThreadHost {
  return {
    count,
    read: readFile,
    start: (start) => {
      const worker = new Worker(SCRIPT, { eval: true, workerData: start });
      worker.unref();
      return {
        ready: new Promise((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
        stop: () => void worker.terminate(),
      };
    },
  };
}
