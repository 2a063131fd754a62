/** The choices of kernels in IndexedDB, by adapter. A store that fails costs a timing, never a load. */

import { get, set } from 'idb-keyval';
import { openStore } from './database.ts';

export const storedKernels = {
  recall: (adapter: string) => get<string>(adapter, openStore('kernels')).catch(() => undefined),
  keep: (adapter: string, choice: string) =>
    set(adapter, choice, openStore('kernels')).catch(() => {}),
};
