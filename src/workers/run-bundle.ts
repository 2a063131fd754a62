/** Turns a kept run with its snapshots into a bundle; knows how an adapter is written in Hugging Face names. */

import type { BundleContents, BundledAdapter } from '../formats/bundle.ts';
import { writeBundle } from '../formats/bundle-write.ts';
import { ropeStyleOf } from '../model/families.ts';
import { toGguf } from '../model/lora-gguf.ts';
import { type RowOrder, toHf } from '../model/lora-hf.ts';
import type { AdapterData, EpisodeEvent, LearnerSnapshot, RunManifest } from '../records.ts';

/** A run as an engine or a store has it. */
export interface KeptRun {
  readonly id: string;
  readonly createdAt: string | null;
  readonly manifest: RunManifest;
  readonly events: readonly EpisodeEvent[];
  /** null where none was kept, or the method has no adapter. */
  readonly snapshots: { readonly start: LearnerSnapshot; readonly latest: LearnerSnapshot } | null;
}

/** The bytes of `<run>.attt.zip`. */
export function bundleRun(run: KeptRun): Promise<Uint8Array> {
  const { id, createdAt, manifest, events, snapshots } = run;
  return writeBundle({
    run: id,
    createdAt,
    events,
    adapters: snapshots === null ? null : adaptersOf(snapshots, manifest),
  });
}

function adaptersOf(
  { start, latest }: NonNullable<KeptRun['snapshots']>,
  manifest: RunManifest,
): BundleContents['adapters'] {
  const bundled = (snapshot: LearnerSnapshot): BundledAdapter => ({
    snapshot,
    modules: toHf(snapshot.adapter, rowOrderOf(snapshot.adapter, manifest)),
    gguf: toGguf(snapshot.adapter),
  });
  if (start.adapter.modules.length === 0) return null;
  return { start: bundled(start), latest: bundled(latest) };
}

/** Heads of q and k decide the order of rows; an adapter on neither needs none. */
export function rowOrderOf(
  { modules }: AdapterData,
  { heads, kvHeads, architecture }: RunManifest,
): RowOrder {
  const q = modules.find(({ target }) => target === 'q_proj');
  const k = modules.find(({ target }) => target === 'k_proj');
  const headDim = q ? q.outputs / heads : k ? k.outputs / kvHeads : 2;
  return { headDim, ropeStyle: ropeStyleOf(architecture) };
}
