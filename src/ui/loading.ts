/** A model on its way into the engine, as the page keeps it. */

import type { LoadProgress, ModelPreview } from '../records.ts';

export type ModelOrigin = 'server' | 'bundled' | 'download' | 'cache' | 'file';

/** A model on its way into the engine. */
export interface Loading {
  readonly label: string;
  readonly from: ModelOrigin;
  /** Its address, where it can be paused and go on later; null for files. */
  readonly url: string | null;
  readonly progress: LoadProgress | null;
  /** What it will need; null until its header was read. */
  readonly preview: ModelPreview | null;
  /** It may not fit: loading waits for a word. */
  readonly asking: boolean;
}

export function startLoading({
  label,
  from,
  url,
}: Pick<Loading, 'label' | 'from' | 'url'>): Loading {
  return { label, from, url, progress: null, preview: null, asking: false };
}

/** What arrives from a cache was not downloaded, whatever was asked for. */
export function withLoadProgress(loading: Loading, progress: LoadProgress): Loading {
  const from = progress.phase === 'cache' ? 'cache' : loading.from;
  return { ...loading, from, progress };
}
