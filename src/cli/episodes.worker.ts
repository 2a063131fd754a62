/** One thread of {@link runSideBySide}: plays what it gets hold of on an engine of its own, and sends its items. */

import { parentPort, workerData } from 'node:worker_threads';
import { toWire } from '../errors.ts';
import { runOnHost } from './host.ts';
import { note } from './output.ts';
import { type FromThread, holdOf, type ToThread } from './side-by-side.ts';

const { job, groups, holders, self, where }: ToThread = workerData;
const send = (message: FromThread) => parentPort?.postMessage(message);

try {
  await runOnHost(job, where, {
    isOurs: (episode) => {
      const ours = holdOf(groups[episode] ?? 0, self, holders);
      if (ours) send({ type: 'episode', episode });
      return ours;
    },
    emit: async (item) => send({ type: 'item', item }),
    // What all would say is said once.
    note: self === 1 ? note : () => {},
  });
  send({ type: 'done' });
} catch (thrown) {
  send({ type: 'failed', error: toWire(thrown) });
}
