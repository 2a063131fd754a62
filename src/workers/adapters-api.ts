/** What the page asks the engine worker about the adapter shelf, as types. */

import type { Settings } from '../config.ts';
import type { AdapterDtype } from '../formats/adapter-dtype.ts';
import type { ModuleInfo } from '../model/adapter-algebra.ts';
import type { AdapterForm } from '../model/adapter-file.ts';
import type { ComparedText } from '../model/compare.ts';
import type { MergeReport, MergeType } from '../model/merge.ts';
import type { ChatMessage, ShelvedAdapter } from '../records.ts';
import type { Download } from './api.ts';

/** One side of a comparison: an adapter of the shelf at a strength, or null for the base alone. */
export interface SideRef {
  readonly id: string | null;
  readonly strength: number;
}

/** How a new adapter comes from those of the shelf. */
export type Derivation =
  | { readonly kind: 'prune'; readonly id: string; readonly keep: number }
  /** Σ weight · adapter: 1 and −1 is the difference, 1 − t and t the interpolation. */
  | {
      readonly kind: 'combine';
      readonly summands: readonly { readonly id: string; readonly weight: number }[];
    };

/** A type, not an interface: only types are assignable to an API of rpc.ts. */
export type AdapterCalls = {
  readonly adapters: { readonly input: null; readonly output: readonly ShelvedAdapter[] };
  /** Opens one adapter for the model in use: a GGUF, a zip, or the two files of a PEFT folder. */
  readonly openAdapter: {
    readonly input: { readonly files: readonly File[] };
    readonly output: ShelvedAdapter;
  };
  /** Keeps the adapter of a stored run, as it stands after it. */
  readonly shelveRun: {
    readonly input: { readonly id: string; readonly name: string };
    readonly output: ShelvedAdapter;
  };
  readonly renameAdapter: {
    readonly input: { readonly id: string; readonly name: string; readonly note: string };
    readonly output: null;
  };
  readonly deleteAdapter: { readonly input: { readonly id: string }; readonly output: null };
  readonly adapterModules: {
    readonly input: { readonly id: string };
    readonly output: readonly ModuleInfo[];
  };
  /** Why no run of these settings can start from it on the model in use; null where one can. */
  readonly startProblem: {
    readonly input: { readonly id: string; readonly settings: Settings };
    readonly output: string | null;
  };
  readonly deriveAdapter: {
    readonly input: { readonly name: string; readonly from: Derivation };
    readonly output: ShelvedAdapter;
  };
  /** The adapter as a file for others. Wants the model that it fits: its row order decides. */
  readonly saveAdapter: {
    readonly input: {
      readonly id: string;
      readonly form: AdapterForm;
      readonly dtype: AdapterDtype;
      readonly strength: number;
    };
    readonly output: Download;
  };
};

export type AdapterStreams = {
  /** One prompt under each side; yields how many of the turns are done. */
  readonly compareAdapters: {
    readonly input: {
      readonly messages: readonly ChatMessage[];
      readonly sides: readonly SideRef[];
      readonly maxTokens: number;
      readonly temperature: number;
      readonly seed: number;
    };
    readonly item: { readonly done: number; readonly total: number };
    readonly output: readonly ComparedText[];
  };
  /** The model in use with the adapter merged into it; yields bytes written. */
  readonly mergeAdapter: {
    readonly input: { readonly id: string; readonly strength: number; readonly type: MergeType };
    readonly item: { readonly bytes: number };
    readonly output: { readonly name: string; readonly file: Blob; readonly report: MergeReport };
  };
};
