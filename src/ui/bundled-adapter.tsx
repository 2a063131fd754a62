/** The second bundled choice: a larger model, which the user brings, with the adapter that comes with the page. */

import { useState } from 'react';
import { LabError } from '../errors.ts';
import { bundledAdapter } from '../store/models.ts';
import { mergeToFile, openAdapter } from './adapter-shelf-state.ts';
import { loadModel } from './load.ts';
import { attempt } from './report.ts';
import { useLab } from './store.ts';
import { bundledAdapter as say } from './strings.ts';

export function BundledAdapter({ locked }: { locked: boolean }) {
  const [busy, setBusy] = useState(false);
  const { path, base } = bundledAdapter;
  const ready = useLab(({ model }) => model?.sha256 === base.sha256);
  const use = async () => {
    setBusy(true);
    await attempt(say.notFetched, () => mergeAndLoad(path));
    setBusy(false);
  };
  return (
    <button
      type="button"
      className="button"
      disabled={locked || busy || !ready}
      data-tip={ready ? say.opensMergesLoads : say.needsBase(base.file, base.megabytes)}
      onClick={() => void use()}
    >
      {say.smollm2Household}
    </button>
  );
}

/** Puts the adapter on the shelf, merges it into the model in use, and loads the sum in its place. */
async function mergeAndLoad(path: string): Promise<void> {
  const response = await fetch(path);
  if (!response.ok) {
    throw new LabError(
      'network',
      `${path} answered ${response.status}; expected the adapter beside the page. Build the page again with its models folder.`,
    );
  }
  const file = new File([await response.blob()], path.split('/').at(-1) ?? path);
  const adapter = await openAdapter([file]);
  if (!adapter) return;
  const merged = await mergeToFile({ id: adapter.id, strength: 1, type: 'Q8_0' });
  if (merged) await loadModel({ kind: 'file', file: new File([merged.file], merged.name) });
}
