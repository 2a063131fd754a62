/** One thread of {@link runSideBySide}: plays what it gets hold of on an engine of its own, and sends its items. */

import { parentPort, workerData } from 'node:worker_threads';
import { toWire } from '../errors.ts';
import { runOnHost } from './host.ts';
import { note } from './output.ts';
import { type FromThread, type ToThread, takes } from './side-by-side.ts';

const told: ToThread = workerData;
let began = false;
const send = (message: FromThread) => parentPort?.postMessage(message);

try {
  await runOnHost(told.job, told.where, {
    isOurs: (episode) => {
      if (!takes(episode, told)) return false;
      began = true;
      send({ type: 'episode', episode });
      return true;
    },
    emit: async (item) => send({ type: 'item', item }),
    // What all would say, of their engines, is said once; what an episode says is its own.
    note: (text) => {
      if (began || told.self === 1) note(text);
    },
  });
  send({ type: 'done' });
} catch (thrown) {
  send({ type: 'failed', error: toWire(thrown) });
}
