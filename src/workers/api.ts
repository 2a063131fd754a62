/** The whole conversation between the page and the engine worker, as types. */

import type { Settings } from '../config.ts';
import type {
  BackendName,
  Capabilities,
  EpisodeEvent,
  KeptSnapshots,
  LoadProgress,
  ModelInfo,
  ModelPreview,
  ModelRef,
  Progress,
  RemoteRef,
  RunSummary,
  StoredModel,
  TaskRef,
} from '../records.ts';
import type { AdapterCalls, AdapterStreams } from './adapters-api.ts';
import type { EnvApi } from './env-api.ts';

/** A file that the page hands to the person. */
export interface Download {
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** What the import of a notebook did. */
export interface Imported {
  /** Runs that are new here, and those that were here already. */
  readonly added: number;
  readonly known: number;
  /** Adapters that are new on the shelf. */
  readonly adapters: number;
}

/** What a person can ask of the episode in flight. */
export type Control = 'pause' | 'resume' | 'step' | 'stop' | 'update_now' | 'roll_back_now';

/** What a run's stream carries: `event` items are stored before they are posted, the rest is passing. */
export type RunItem =
  | { readonly kind: 'started'; readonly run: RunSummary }
  | { readonly kind: 'event'; readonly event: EpisodeEvent }
  | { readonly kind: 'progress'; readonly progress: Progress };

interface WithSummaries {
  /** The server that writes summaries where the settings ask for one; its key goes no further. */
  readonly summaryServer: RemoteRef | null;
}

/** An adapter that a run starts from: one of the shelf, or what another run of this browser started from. */
export type StartFrom =
  | { readonly kind: 'shelf'; readonly id: string }
  | { readonly kind: 'run'; readonly id: string };

/** What goes on to the worlds, and comes back, as it is. */
type EnvCalls = EnvApi['calls'];

export interface EngineApi {
  readonly calls: AdapterCalls & {
    /**
     * Opens the backend: the named one, else the best there is. Later calls tell what was opened.
     * `kernels`, null unless asked for, are those of later loads on WebGPU; `threads` those on WASM.
     */
    readonly probe: {
      readonly input: {
        readonly backend: BackendName | null;
        readonly kernels: string | null;
        readonly threads: number | null;
      };
      readonly output: Capabilities;
    };
    readonly environments: EnvCalls['describe'];
    readonly tasks: EnvCalls['tasks'];
    readonly openTask: EnvCalls['openTask'];
    readonly worldHistory: EnvCalls['history'];
    readonly worldPatch: EnvCalls['patch'];
    readonly models: { readonly input: null; readonly output: readonly StoredModel[] };
    readonly deleteModel: { readonly input: { readonly key: string }; readonly output: null };
    readonly deleteAllModels: { readonly input: null; readonly output: null };
    /** Reads only the header; `ref` null is the model in use. Throws bad_input and unsupported. */
    readonly previewModel: {
      readonly input: { readonly ref: ModelRef | null; readonly settings: Settings };
      readonly output: ModelPreview;
    };
    /** Uses a model behind a server from now on; the present one stays when it does not answer. */
    readonly connectModel: { readonly input: RemoteRef; readonly output: ModelInfo };
    /** Asks a server for one token. Throws what is wrong with it, in words. */
    readonly probeSummaries: { readonly input: RemoteRef; readonly output: null };
    readonly loadedModel: { readonly input: null; readonly output: ModelInfo | null };
    /** The settings that runs asked for with these have in their manifests, their methods' own included. */
    readonly settle: {
      readonly input: readonly Settings[];
      readonly output: readonly Settings[];
    };
    readonly runs: { readonly input: null; readonly output: readonly RunSummary[] };
    readonly runEvents: {
      readonly input: { readonly id: string };
      readonly output: readonly EpisodeEvent[];
    };
    /** What the snapshots of each run take, by its id. */
    readonly snapshotSizes: {
      readonly input: null;
      readonly output: Readonly<Record<string, KeptSnapshots>>;
    };
    readonly deleteRun: { readonly input: { readonly id: string }; readonly output: null };
    readonly control: {
      readonly input: { readonly id: string; readonly command: Control };
      readonly output: null;
    };
    /** The adapter as it stands after the run (or now, in mid-run), as a PEFT zip. */
    readonly exportAdapter: { readonly input: { readonly id: string }; readonly output: Download };
    /** The whole run with its adapters, as `<run>.attt.zip`. */
    readonly exportBundle: { readonly input: { readonly id: string }; readonly output: Download };
    /** Every run with its notes, and the adapter shelf, as one zip. */
    readonly exportNotebook: { readonly input: null; readonly output: Download };
    /** Adds the runs and adapters of such a zip; those that are here already stay as they are. */
    readonly importNotebook: {
      readonly input: { readonly name: string; readonly file: Blob };
      readonly output: Imported;
    };
    /** The event stream as JSONL. */
    readonly exportRun: { readonly input: { readonly id: string }; readonly output: Download };
  };
  readonly streams: AdapterStreams & {
    /** Loads a model in place of the present one, which stays usable when this fails. */
    readonly loadModel: {
      readonly input: { readonly ref: ModelRef; readonly contextLength: number };
      readonly item: LoadProgress;
      readonly output: ModelInfo;
    };
    /** Runs one episode; leaving the stream stops it within a second. */
    readonly run: {
      readonly input: WithSummaries & {
        readonly task: TaskRef;
        readonly settings: Settings;
        /** What the policy wrote after earlier tries of the task. */
        readonly reflections?: readonly string[];
        /** Null for a fresh adapter. */
        readonly startFrom?: StartFrom | null;
      };
      readonly item: RunItem;
      readonly output: RunSummary;
    };
    /** A new run that takes the first `t` steps of a recorded one over, under these settings. */
    readonly fork: {
      readonly input: WithSummaries & {
        /** The recorded run's events, and its id where it is stored. */
        readonly record: readonly EpisodeEvent[];
        readonly run: string | null;
        readonly t: number;
        readonly settings: Settings;
      };
      readonly item: RunItem;
      readonly output: RunSummary;
    };
    /** Goes on with a stored run that was stopped or interrupted: first its record, then what is new. */
    readonly resume: {
      readonly input: WithSummaries & { readonly id: string };
      readonly item: RunItem;
      readonly output: RunSummary;
    };
  };
}
