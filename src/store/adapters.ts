/** The adapter shelf in IndexedDB: what is known of each adapter, and its matrices beside it. */

import { del, get, set, values } from 'idb-keyval';
import { LabError } from '../errors.ts';
import type { AdapterData, ShelvedAdapter } from '../records.ts';
import { openStore, stored } from './database.ts';

/** Adds an adapter; the entry comes last, so that none stands there without its matrices. */
export function shelveAdapter(entry: ShelvedAdapter, data: AdapterData): Promise<void> {
  return stored('the adapter', async () => {
    await set(entry.id, data, openStore('adapter-data'));
    await set(entry.id, entry, openStore('adapters'));
  });
}

/** All adapters, newest first. */
export async function listAdapters(): Promise<readonly ShelvedAdapter[]> {
  const entries = await stored('the adapters', () => values<ShelvedAdapter>(openStore('adapters')));
  return entries.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
}

/** Throws `not_found`. */
export async function getAdapter(id: string): Promise<ShelvedAdapter> {
  const entry = await stored('the adapter', () => get<ShelvedAdapter>(id, openStore('adapters')));
  return entry ?? missing(id);
}

/** An adapter's matrices. Throws `not_found`. */
export async function adapterData(id: string): Promise<AdapterData> {
  const data = await stored('the adapter', () => get<AdapterData>(id, openStore('adapter-data')));
  return data ?? missing(id);
}

/** Changes its name and note, and nothing else. Throws `not_found`. */
export async function renameAdapter(id: string, name: string, note: string): Promise<void> {
  const entry = await getAdapter(id);
  await stored('the adapter', () => set(id, { ...entry, name, note }, openStore('adapters')));
}

/** Deleting what is not there is no error. */
export function deleteAdapter(id: string): Promise<void> {
  return stored('the adapter', async () => {
    await del(id, openStore('adapters'));
    await del(id, openStore('adapter-data'));
  });
}

function missing(id: string): never {
  throw new LabError(
    'not_found',
    'This adapter is not in this browser any more. It may have been deleted in another tab.',
    { id },
  );
}
