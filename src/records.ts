/** Every noun that is stored or sent between threads. Types only: nothing here runs. */

import type { LoraTarget, Settings, TriggerName } from './config.ts';
import type { WireError } from './errors.ts';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

// ---------------------------------------------------------------- environments

/** What the page shows about an environment, so that it needs none of the environment's code. */
export interface EnvDescription {
  /** Gymnasium form, e.g. `household/ALFWorld-v0.4`. */
  readonly id: string;
  readonly label: string;
  readonly help: string;
  readonly citation: string;
  readonly splits: readonly {
    readonly name: string;
    readonly size: number;
    readonly help: string;
  }[];
  /**
   * Its tasks are programs: commands carry code and reach it as they were written, case, blanks and line
   * ends included, and what a run changed can be taken out as a patch.
   */
  readonly code?: true;
  /** What an oracle and a do-nothing policy must score on every task. */
  readonly oracleScore: number;
  readonly idleScore: number;
}

/**
 * Names one task: the `index`-th of a frozen split; `data` carries a dropped file instead (a
 * household scene or the text of a game file), in which case split is `file`.
 */
export interface TaskRef {
  readonly env: string;
  readonly split: string;
  readonly index: number;
  /** The task's own words, e.g. `put a hot potato in sinkbasin.`; absent until it is known. */
  readonly goal?: string;
  /** The kind of task, for tables, e.g. `pick_heat_then_place_in_recep`. */
  readonly kind?: string;
  readonly data?: Json;
}

/** A world at one moment, to be read by a person. */
export type WorldSketch = PlacesSketch | ProgramSketch;

/** A task and what was done in it; `from` is the state before the first of the actions, absent where that is the start. */
export interface HistoryQuestion {
  readonly task: TaskRef;
  readonly actions: readonly string[];
  readonly from?: Json;
}

export interface WorldHistory {
  /** At the start, unless the question went on from a later state, and after each action; empty where a world has none. */
  readonly sketches: readonly WorldSketch[];
  /** After the last action: what the next question goes on from. */
  readonly state: Json;
}

/** Places and the things in them. */
export interface PlacesSketch {
  readonly kind: 'places';
  readonly stateHash: string;
  readonly holding: WorldThing | null;
  readonly places: readonly {
    readonly name: string;
    /** The agent is at it. */
    readonly here: boolean;
    /** null where it cannot be opened. */
    readonly open: boolean | null;
    readonly things: readonly WorldThing[];
  }[];
}

/** A program under repair: unified diffs, and every test as it fares now, whether or not the agent ran it. */
export interface ProgramSketch {
  readonly kind: 'program';
  readonly stateHash: string;
  /** What the step changed; empty where it changed nothing. */
  readonly change: string;
  /** What differs from the start. */
  readonly patch: string;
  readonly tests: readonly ProgramTest[];
  /** null until the work is handed in. */
  readonly outcome: 'solved' | 'failed' | null;
}

export interface ProgramTest {
  readonly name: string;
  /** Only run when the work is handed in; the agent never reads it. */
  readonly hidden: boolean;
  readonly passed: boolean;
  /** Why it failed; empty where it passed. */
  readonly message: string;
}

export interface WorldThing {
  readonly name: string;
  /** What was done to it, e.g. `hot`. */
  readonly marks: readonly string[];
}

// ---------------------------------------------------------------- conversation

export type Role = 'system' | 'user' | 'assistant';

export interface ChatMessage {
  readonly role: Role;
  readonly content: string;
}

/** Why a generation ended. */
export type GenerationStop = 'eos' | 'stop' | 'length' | 'abort';

/** Sampled ids with log-probabilities under the raw logits (before temperature and penalty). */
export interface Generation {
  readonly promptTokens: number;
  /** The end-of-turn id included where it was sampled. */
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  /** Mean over the ids, in nats, under the raw logits; absent from a served model and in older records. */
  readonly meanEntropy?: number;
  readonly text: string;
  readonly stop: GenerationStop;
}

/** How an action fared, told apart because the cure differs. */
export type ActionClass =
  | 'effective' // admissible, and the world changed
  | 'without_effect' // admissible, the world did not change
  | 'not_admissible' // parsed, but the world does not accept it
  | 'malformed' // no action could be read from the text
  | 'cut_off'; // the token limit ended the text before an action

// ---------------------------------------------------------------- the event stream

/** Why a boundary ended as it did; the order of the checks is the order of this list. */
export type BoundaryOutcome =
  | 'disabled'
  | 'too_early'
  | 'no_text'
  | 'rolled_back_ratio'
  | 'max_updates'
  | 'skipped_novelty'
  | 'observed' // observe-only mode: it would have trained
  | 'updated'
  | 'rolled_back_kl'
  | 'discarded_check'; // quick validation: held texts got worse, so this update was undone

/** What asked for a boundary: a trigger of the settings, a person, or a method that trains before acting. */
export type BoundaryTrigger = TriggerName | 'manual' | 'before_acting';

/** Quick validation around one update. */
export interface ValidationCheck {
  /** How many held texts were scored. */
  readonly texts: number;
  /** What they are. Absent in older records: then of the source that was trained on. */
  readonly source?: TextSource;
  /** Their mean cross entropy in nats, before the update and after it. */
  readonly before: number;
  readonly after: number;
}

export type TextSource = 'self' | 'env' | 'summary';

/** One trained token: arrays of these would be wasteful, so they are columns of equal length. */
export interface TokenColumns {
  readonly ids: readonly number[];
  /** What was read before them and never trained; null in runs recorded before it was kept. */
  readonly context: readonly number[] | null;
  /** The token's own text, as the tokenizer decodes it alone (may be a partial character). */
  readonly pieces: readonly string[];
  /** w_j; 0 where a token is context only. */
  readonly weights: readonly number[];
  /** f_j, the earlier count of the most frequent covering n-gram. */
  readonly counts: readonly number[];
  /** Start, in this text, of that n-gram; -1 where there is none. */
  readonly ngramStarts: readonly number[];
  /** Cross entropy in nats before the first and after the last gradient step; null where it was not measured. */
  readonly ceBefore: readonly (number | null)[];
  readonly ceAfter: readonly (number | null)[];
  /** KL(now ‖ episode start) in nats after the update; absent where the KL was not measured. */
  readonly kl?: readonly (number | null)[];
  /** Entropy of the policy in nats after the update; measured with the KL. */
  readonly entropy?: readonly (number | null)[];
  /** The likeliest tokens after the update, the likeliest first; only where they were asked for. */
  readonly alternatives?: readonly (readonly Alternative[])[];
}

/** What the policy could have written in a token's place. */
export interface Alternative {
  readonly id: number;
  readonly piece: string;
  /** Nats, under the raw logits. */
  readonly logprob: number;
}

export type StopReason =
  | 'solved' // terminated with reward
  | 'failed' // terminated without
  | 'step_limit'
  | 'context_full'
  | 'stopped' // by the user
  | 'environment_error'
  | 'engine_error';

interface Sequenced {
  /** 0, 1, 2, … without gaps within a run. */
  readonly seq: number;
  /**
   * Put on by whoever recorded the run, never by the loop; comparing runs leaves it out. Absent where
   * nobody did, and in older records.
   */
  readonly clock?: Recorded;
}

/** When an event was recorded, by the machine's clock. */
export interface Recorded {
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Since the event before it; time in which the run was paused is left out. */
  readonly seconds: number;
}

export interface EpisodeStarted extends Sequenced {
  readonly type: 'episode_started';
  readonly manifest: RunManifest;
  readonly task: TaskRef;
  readonly messages: readonly ChatMessage[];
  readonly promptIds: readonly number[];
  readonly observation: string;
  readonly stateHash: string;
}

export interface StepTaken extends Sequenced {
  readonly type: 'step';
  /** 1, 2, … */
  readonly t: number;
  readonly generation: Generation;
  readonly thought: string;
  /** The normalised action that was sent to the world; empty where none could be read. */
  readonly action: string;
  readonly actionClass: ActionClass;
  /** The world did as told, and what it ran did not pass: a test that fails. Absent in older records. */
  readonly failed?: true;
  readonly observation: string;
  /** The ids with which the observation entered the conversation, template ids included. */
  readonly observationIds: readonly number[];
  /** Where the observation itself is in those ids, without a list of commands after it: [start, end). */
  readonly observationSpan: readonly [start: number, end: number];
  readonly reward: number;
  readonly terminated: boolean;
  /** Hash of the world after the step: replaying the actions up to here must give it again. */
  readonly stateHash: string;
  /** Max Jaccard of this step's text with every earlier step's text; 0 at the first. */
  readonly repetition: number;
  /** Turns that the method refused before this one, in order; absent when it refused none. */
  readonly refused?: readonly RefusedTurn[];
}

/** A sampled turn that never reached the world. */
export interface RefusedTurn {
  readonly action: string;
  readonly why: string;
  /** Tokens sampled for it. */
  readonly tokens: number;
}

export interface Boundary extends Sequenced {
  readonly type: 'boundary';
  readonly t: number;
  /** Where several of the settings asked at once, the first of them in the order of `triggerNames`. */
  readonly trigger: BoundaryTrigger;
  /** Why it asked, in one sentence. Absent in older records. */
  readonly cause?: string;
  readonly outcome: BoundaryOutcome;
  /** One sentence that answers "why was there (no) update?" with the numbers. */
  readonly why: string;
  readonly source: TextSource;
  readonly text: string;
  /** How `text` came to be; only where it is a summary, and one was asked for. */
  readonly summary?: Omit<Summary, 'text'>;
  /** r_k; null when there was no text, or it was accepted already. */
  readonly ratio: number | null;
  readonly novelty: number | null;
  /** The earlier accepted update text that r_k is with, as its step; null when none. */
  readonly nearestStep: number | null;
  readonly tokens: TokenColumns | null;
  readonly meanWeight: number | null;
  /** Loss before each gradient step, then after the last: grad_steps + 1 numbers. */
  readonly losses: readonly number[];
  /** Norm of the whole gradient at each gradient step, before clipping. */
  readonly gradNorms: readonly number[];
  /** KL(now ‖ episode start) over the trained positions; null when not measured. */
  readonly kl: number | null;
  /** The same at the last prompt's next-token position, in context. */
  readonly klInContext: number | null;
  /** Updates accepted so far in this episode, this one included. */
  readonly updates: number;
  /** Frobenius norm of the adapter's whole change, scale included. */
  readonly deltaNorm: number | null;
  /** True when a rollback restored something; false when there was nothing to undo. */
  readonly restored: boolean;
  /** Trained tokens times gradient steps, replayed texts included. Absent where nothing was trained. */
  readonly trainedTokens?: number;
  /** How many earlier texts were trained along. */
  readonly replayed?: number;
  readonly check?: ValidationCheck | null;
}

/** A trajectory told in a few sentences; recorded, so that a replay asks nobody. */
export interface Summary {
  readonly text: string;
  /** Who wrote it, as its server names it; null for the policy itself. */
  readonly model: string | null;
  /** Sampled by the policy, or else the served model's text in the policy's own ids. */
  readonly ids: readonly number[];
  /** `length`: it was cut at `summary_max_tokens`. */
  readonly stop: Generation['stop'];
  /** The ids between the latest turn and the policy's own summary. Absent of a served one, and in older records. */
  readonly question?: readonly number[];
}

export interface RolledBack extends Sequenced {
  readonly type: 'rolled_back';
  readonly t: number;
  readonly cause: 'manual';
  readonly restored: boolean;
}

export interface EpisodeEnded extends Sequenced {
  readonly type: 'episode_ended';
  readonly reason: StopReason;
  readonly t: number;
  readonly reward: number;
  readonly updates: number;
  readonly rollbacks: number;
  readonly error: WireError | null;
  /** What the policy wrote about a failed try; absent unless the method reflects. */
  readonly reflection?: Generation;
  /** Why it could write nothing, so that no try follows though some are left: one sentence. */
  readonly noReflection?: string;
}

/** The run. UI state, charts, store, bundle, replay and tests are folds over these. */
export type EpisodeEvent = EpisodeStarted | StepTaken | Boundary | RolledBack | EpisodeEnded;

/** Never stored, never folded into results: what is happening right now, with wall-clock rates. */
export type Progress =
  | {
      readonly type: 'phase';
      readonly t: number;
      readonly phase: 'prefill' | 'environment' | 'train' | 'measure' | 'replay'; // a run that is taken up repeats its record
      readonly done: number;
      readonly total: number;
    }
  | {
      readonly type: 'token';
      readonly t: number;
      readonly id: number;
      readonly piece: string;
    }
  | { readonly type: 'paused'; readonly t: number };

// ---------------------------------------------------------------- saved state

/** One adapted projection as plain data, in GGUF row order. */
export interface LoraModuleData {
  readonly layer: number;
  readonly target: LoraTarget;
  readonly inputs: number;
  readonly outputs: number;
  readonly rank: number;
  /** alpha / rank, or what else the file asks for. */
  readonly scale: number;
  /** A transposed, [inputs, rank] row-major. */
  readonly aT: Float32Array;
  /** B transposed, [rank, outputs] row-major. */
  readonly bT: Float32Array;
}

/** A whole adapter as plain data: survives structuredClone and IndexedDB bit for bit. */
export interface AdapterData {
  readonly modules: readonly LoraModuleData[];
}

/** Adam's moments and step count, in the order of the parameters (module by module, A before B). */
export interface AdamData {
  readonly step: number;
  readonly m: readonly Float32Array[];
  readonly v: readonly Float32Array[];
}

/** What a rollback restores: adapter, optimiser moments and step counter, bit for bit. */
export interface LearnerSnapshot {
  readonly schema: 1;
  readonly adapter: AdapterData;
  readonly optimiser: AdamData;
  /** What elastic weight consolidation remembers; absent while there is nothing. */
  readonly ewc?: EwcData;
}

/** What a run's snapshots take on the disk. */
export interface KeptSnapshots {
  readonly count: number;
  readonly bytes: number;
}

/** Per parameter, in the optimiser's order. */
export interface EwcData {
  /** F: the sum of the squared gradients of the accepted texts, each at the parameters after its update. */
  readonly fisher: readonly Float32Array[];
  /** Those parameters' mean, weighed by the squares; in snapshots of earlier versions, those after the last update. */
  readonly anchor: readonly Float32Array[];
}

/** An adapter of the shelf as lists show it; its matrices are kept beside it. */
export interface ShelvedAdapter {
  readonly id: string;
  readonly name: string;
  readonly note: string;
  readonly createdAt: string;
  /** The model that it was opened on, or trained on. */
  readonly modelName: string;
  readonly modelSha256: string;
  readonly modules: number;
  readonly targets: readonly string[];
  readonly ranks: readonly number[];
  readonly parameters: number;
  /** ‖ΔW‖ over all modules, Frobenius. */
  readonly norm: number;
}

// ---------------------------------------------------------------- runs

/** What a person wrote beside a run. */
export interface RunNotes {
  readonly tags: readonly string[];
  readonly note: string;
  /** Notes on single steps, by the step's number; none is empty. */
  readonly steps: Readonly<Record<string, string>>;
}

export type BackendName = 'webgpu' | 'wasm' | 'cpu';

/** Everything that the event stream depends on: equal manifest, equal stream. */
export interface RunManifest {
  /** 1 had neither `quantisation` nor `tokenizerSha256`; `upgradeEvents` reads it. */
  readonly schema: 2;
  readonly appVersion: string;
  readonly modelName: string;
  /** sha256 of the GGUF file, hex. */
  readonly modelSha256: string;
  /** The type of most weights, e.g. `Q4_1`; empty where it was not recorded. */
  readonly quantisation: string;
  /** Says whether two models read and write the same ids; empty where it was not recorded. */
  readonly tokenizerSha256: string;
  /** What an exported adapter needs to know of the model: rows of q and k are in GGUF order here. */
  readonly architecture: string;
  readonly heads: number;
  readonly kvHeads: number;
  /** `remote`: a server computes, and nothing can be trained. */
  readonly backend: BackendName | 'remote';
  /** The adapter's own description on WebGPU, else the SIMD flavour. */
  readonly device: string;
  /** The variant of each hot op on WebGPU, as `matvec=registers matmul=wide …`; absent elsewhere. */
  readonly kernels?: string;
  readonly env: string;
  readonly task: TaskRef;
  readonly settings: Settings;
  /** The run whose first `t` steps were taken over, and how many; absent in a run of its own. */
  readonly forkedFrom?: { readonly run: string | null; readonly t: number };
  /** Where summaries come from, without any key; absent where the policy or nobody writes them. */
  readonly summaryServer?: string;
  /** What the policy wrote after earlier tries of this task; absent at the first. */
  readonly reflections?: readonly string[];
  /** The adapter that the episode started from; absent where it was a fresh one. */
  readonly startAdapter?: StartAdapterRef;
}

/** Which adapter it was, whatever file it came in. */
export interface StartAdapterRef {
  readonly name: string;
  /** Of its content, see adapterSha256. */
  readonly sha256: string;
}

export interface RunSummary {
  readonly id: string;
  readonly createdAt: string;
  readonly manifest: RunManifest;
  readonly goal: string;
  readonly steps: number;
  readonly updates: number;
  readonly rollbacks: number;
  /** Whether a person asked for an update or a rollback. Absent in older records: the run's events say it. */
  readonly steered?: boolean;
  /** null while it runs, or when the tab closed in mid-episode. */
  readonly reason: StopReason | null;
  readonly reward: number;
}

// ---------------------------------------------------------------- models and the machine

/** Where a model's bytes come from. */
export type ModelRef =
  | { readonly kind: 'bundled'; readonly name: string }
  | { readonly kind: 'url'; readonly url: string }
  /** `parts`: the further files of a model in several. */
  | { readonly kind: 'file'; readonly file: File; readonly parts?: readonly File[] }
  | { readonly kind: 'cached'; readonly key: string };

/** A model behind an OpenAI-compatible server. The key is kept in memory for the session only. */
export interface RemoteRef {
  readonly baseUrl: string;
  /** As the server names it. */
  readonly model: string;
  readonly apiKey: string | null;
  /** A path on the server's own disk; absent or empty for the model as it is. */
  readonly adapter?: string;
  /** The longest silence, in seconds. */
  readonly timeout: number;
}

/** A model whose bytes are kept in this browser, all of them or those that had come when its download ended. */
export interface StoredModel {
  readonly key: string;
  readonly name: string;
  readonly bytes: number;
  /** Of the whole file; 0 where it is not known. */
  readonly total: number;
  readonly complete: boolean;
  /** ISO 8601. */
  readonly lastUsed: string;
}

export interface LoadProgress {
  readonly phase: 'download' | 'cache' | 'read' | 'upload' | 'warm_up';
  readonly bytes: number;
  readonly total: number;
  readonly bytesPerSecond: number;
}

/** One part of a memory estimate, in bytes. */
export interface MemoryPart {
  readonly part: 'weights' | 'kv' | 'lora' | 'optimiser' | 'activations';
  readonly bytes: number;
}

/** What a model would need, as its file's header and the settings say. */
export interface ModelPreview {
  readonly name: string;
  readonly parameters: number;
  /** Of all tensors. */
  readonly fileBytes: number;
  /** What the settings ask for, cut to what the model was trained for. */
  readonly contextLength: number;
  readonly trainedContext: number;
  readonly memory: readonly MemoryPart[];
  /** What there is; null where nothing is known. */
  readonly limit: { readonly bytes: number; readonly what: string } | null;
}

export interface ModelInfo {
  readonly name: string;
  /** The server that computes it; absent for a model in this tab or process. */
  readonly endpoint?: string;
  readonly architecture: string;
  readonly quantisation: string;
  readonly parameters: number;
  readonly fileBytes: number;
  readonly sha256: string;
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly vocabulary: number;
  readonly contextLength: number;
  readonly licence: string | null;
  readonly memory: readonly MemoryPart[];
  readonly warnings: readonly string[];
}

/** One line of the three-step WebGPU probe (and what follows from it). */
export interface ProbeStep {
  readonly step: 'navigator.gpu' | 'adapter' | 'device' | 'shader-f16' | 'isolation' | 'storage';
  readonly ok: boolean;
  readonly found: string;
  /** What a person can do about it; empty when ok. */
  readonly next: string;
}

export interface Capabilities {
  readonly backend: BackendName;
  /** Why it is this backend, in words. */
  readonly reason: string;
  readonly device: string;
  readonly steps: readonly ProbeStep[];
}
