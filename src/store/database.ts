/** Opens this origin's IndexedDB stores and turns their failures into words. Knows no record type. */

import { createStore, type UseStore } from 'idb-keyval';
import { LabError } from '../errors.ts';

/** The stores of the notebook; one database each, as idb-keyval wants it. */
export type StoreName =
  | 'runs'
  | 'events'
  | 'snapshots'
  | 'adapters'
  | 'adapter-data'
  | 'notes'
  | 'kernels';

const opened = new Map<StoreName, UseStore>();

/** One connection per store and thread. */
export function openStore(name: StoreName): UseStore {
  const store = opened.get(name) ?? createStore(`attt-${name}`, name);
  opened.set(name, store);
  return store;
}

/**
 * Runs a storage operation; resolves only after its transaction committed. Throws `quota` when the
 * disk is full and `internal` otherwise, always saying that nothing was saved.
 */
export async function stored<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (thrown) {
    if (thrown instanceof LabError) throw thrown;
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    if (error.name === 'QuotaExceededError') {
      throw new LabError(
        'quota',
        `Could not save ${what}: this browser's storage for the page is full. Nothing was overwritten. Delete old runs or models, then try again.`,
        { what },
      );
    }
    throw new LabError('internal', `Could not use the storage for ${what}: ${error.message}`, {
      what,
    });
  }
}
