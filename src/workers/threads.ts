/** Threads for the kernels in a page: module workers, which end with the worker that starts them. */

import { LabError } from '../errors.ts';
import { defaultThreads, type ThreadHost } from '../model/simd/helper.ts';

/** As many threads as {@link defaultThreads} says for this machine. */
export function pageThreads(): ThreadHost {
  return {
    count: defaultThreads(navigator.hardwareConcurrency),
    read: async (path) => {
      const response = await fetch(path, { credentials: 'same-origin' });
      if (response.ok) return new Uint8Array(await response.arrayBuffer());
      throw new LabError('not_found', `${path} answered ${response.status}. Reload the page.`);
    },
    start: (start) => {
      const worker = new Worker(new URL('./kernels.worker.ts', import.meta.url), {
        type: 'module',
        name: 'kernels',
      });
      const ready = new Promise<void>((resolve, reject) => {
        worker.onmessage = () => resolve();
        worker.onerror = ({ message }) => reject(new LabError('internal', message));
      });
      worker.postMessage(start);
      return { ready, stop: () => worker.terminate() };
    },
  };
}
