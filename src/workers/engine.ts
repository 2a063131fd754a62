/** The engine worker's one model and backend: loading, replacing, and the faces an episode needs. */

import { asksForSummaries, type LoraTarget, type Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { serverAddress } from '../formats/channel.ts';
import { type GgufFile, metadataText, readGguf } from '../formats/gguf.ts';
import type { ByteSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { cacheFor } from '../model/cache.ts';
import { settleVariants } from '../model/choose-variants.ts';
import { type BackendEnv, type OpenBackend, openBackend } from '../model/device.ts';
import { warmUp } from '../model/forward.ts';
import { type LlamaModel, loadLlama } from '../model/llama.ts';
import { projectionShape } from '../model/llama-config.ts';
import { freshAdapter } from '../model/lora.ts';
import { defaultNeeds, estimateMemory } from '../model/memory.ts';
import { gpuBackend } from '../model/ops/program.ts';
import { LlamaPolicy } from '../model/policy.ts';
import { type StartAdapter, type StartCandidate, startAdapterRef } from '../model/start-adapter.ts';
import { choiceOn, readChoice, runnable, useChoice, writeChoice } from '../model/variants.ts';
import type { Learner, Policy, Summariser } from '../ports.ts';
import type {
  BackendName,
  Capabilities,
  LoadProgress,
  ModelInfo,
  RemoteRef,
  RunManifest,
  TaskRef,
} from '../records.ts';
import { probeRemote, remoteEpisode } from '../remote/remote-policy.ts';
import { type ServedModel, withAdapter } from '../remote/served-adapter.ts';
import { servedSummaries } from '../remote/served-summaries.ts';
import { chatTemplateOf } from '../text/template.ts';
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { tokenizerHash } from '../text/tokenizer-hash.ts';
import { LoraLearner } from '../train/learner.ts';
import { methods, withMethod } from '../train/methods.ts';
import { checkStart } from '../train/start-check.ts';
import { ownSummaries } from '../train/summary.ts';
import { version } from '../version.ts';

/** A model's file with what is known of it before it is read. */
export interface ModelFile {
  readonly source: ByteSource;
  readonly sha256: string;
  /** What a person should know of how it came; null when nothing. */
  readonly note?: string;
}

/** A model on the device with everything read from its file. */
export interface Loaded {
  readonly file: ModelFile;
  readonly gguf: GgufFile;
  readonly model: LlamaModel;
  readonly tokenizer: Tokenizer;
  readonly tokenizerSha256: string;
  readonly info: ModelInfo;
}

/** What one episode borrows of the engine; dispose it at the episode's end. */
export interface EpisodeFaces {
  readonly policy: Policy;
  readonly learner: Learner;
  readonly summaries: Summariser;
  readonly manifest: RunManifest;
  dispose(): void;
}

/** What an episode may be given besides its task and settings. */
export interface EpisodeExtras {
  /** What the policy wrote after earlier tries. */
  readonly reflections?: readonly string[];
  /** The server that writes summaries; its model is the one that the settings name. */
  readonly summaryServer?: RemoteRef | null;
  /** The kernels of the record that the episode repeats; used where this adapter can run them. */
  readonly kernels?: string;
  /** Where the episode starts, in place of a fresh adapter. */
  readonly startAdapter?: StartAdapter | null;
}

/** Owns the device and the weights. One model at a time. */
export class EngineHost {
  #env: BackendEnv;
  #preferred: BackendName | undefined;
  #kernels: BackendEnv['kernels'];
  #backend: Promise<OpenBackend> | null = null;
  #loaded: Loaded | null = null;
  /** A served model, in place of a loaded one. */
  #remote: { readonly served: ServedModel; readonly info: ModelInfo } | null = null;
  /** How many work with the model now: an episode, a comparison. */
  #holders = 0;

  constructor(env: BackendEnv, preferred?: BackendName) {
    this.#env = env;
    this.#preferred = preferred;
    this.#kernels = env.kernels;
  }

  /**
   * Opens the backend on first use; a lost device and a failure to open are forgotten, so that the
   * next call opens anew.
   */
  backend(): Promise<OpenBackend> {
    this.#backend ??= this.#open();
    return this.#backend;
  }

  async #open(): Promise<OpenBackend> {
    try {
      const opened = await openBackend(this.#preferred, this.#env);
      void opened.lost.then(() => {
        this.#backend = null;
        this.#loaded = null; // its buffers went with the device
      });
      return opened;
    } catch (thrown) {
      this.#backend = null;
      throw thrown;
    }
  }

  /** The backend to open; says nothing to one that is open. */
  prefer(backend: BackendName): void {
    this.#preferred = backend;
  }

  /** How many threads shall compute on WASM; says nothing to a backend that is open. */
  preferThreads(count: number): void {
    const { threads } = this.#env;
    if (threads) this.#env = { ...this.#env, threads: { ...threads, count } };
  }

  /** The kernels to use on WebGPU from the next load on, see KernelWishes. */
  preferKernels(asked: string): void {
    this.#kernels = { ...this.#kernels, asked };
  }

  async capabilities(): Promise<Capabilities> {
    return (await this.backend()).capabilities;
  }

  get info(): ModelInfo | null {
    return this.#remote?.info ?? this.#loaded?.info ?? null;
  }

  /** The model in use. Throws `not_found` without one. */
  get loaded(): Loaded {
    if (this.#loaded) return this.#loaded;
    throw new LabError(
      'not_found',
      'No model is loaded. Load the bundled policy or a GGUF file first.',
    );
  }

  /** Keeps the model in use from being replaced until what is returned is disposed. */
  hold(): Disposable {
    this.#holders++;
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#holders--;
        held = false;
      },
    };
  }

  /** Asked again after each wait, since an episode may have begun meanwhile. */
  #checkNotHeld(): void {
    if (this.#holders === 0) return;
    throw new LabError(
      'bad_input',
      'The model is in use: an episode or a comparison works with it. Stop that or wait for its end, then load or connect another model.',
    );
  }

  /** Replaces the model; the present one stays when anything fails. Throws `bad_input` while one is held. */
  async load(
    file: ModelFile,
    contextLength: number,
    signal: AbortSignal,
    onProgress: (progress: LoadProgress) => void,
  ): Promise<ModelInfo> {
    this.#checkNotHeld();
    const backend = await this.backend();
    const { source } = file;
    const gguf = await readGguf(source);
    const began = performance.now();
    const model = await loadLlama(gguf, source, {
      contextLength,
      signal,
      onProgress: (bytes, total) => {
        const seconds = (performance.now() - began) / 1000;
        onProgress({
          phase: 'upload',
          bytes,
          total,
          bytesPerSecond: bytes / Math.max(seconds, 1e-3),
        });
      },
    });
    const total = model.tensorBytes;
    onProgress({ phase: 'warm_up', bytes: total, total, bytesPerSecond: 0 });
    try {
      this.#checkNotHeld();
      await this.#settle(model);
      await warmUp(model, signal);
      const tokenizer = createTokenizer(gguf.metadata);
      const tokenizerSha256 = await tokenizerHash(gguf.metadata);
      const info = infoOf(file, gguf, model, tokenizer, backend.name);
      this.#checkNotHeld();
      this.#loaded?.model.dispose();
      this.#remote = null;
      this.#loaded = { file, gguf, model, tokenizer, tokenizerSha256, info };
      return info;
    } catch (thrown) {
      model.dispose();
      throw thrown;
    }
  }

  /** Sets the kernels: those of a record where this adapter can run them, else as at the load. */
  async #settle(model: LlamaModel, recorded?: string): Promise<string | null> {
    const backend = await this.backend();
    if (backend.name !== 'webgpu') return null;
    const { device } = gpuBackend();
    const pinned = recorded === undefined ? null : readChoice(recorded);
    if (pinned !== null && runnable(device, pinned)) useChoice(device, pinned);
    else await settleVariants(model, backend, this.#kernels);
    return writeChoice(choiceOn(device));
  }

  /** Uses a served model from now on; the present one stays when it does not answer. Throws as {@link load} does. */
  async connect(ref: RemoteRef, signal: AbortSignal): Promise<ModelInfo> {
    this.#checkNotHeld();
    const served = await withAdapter(ref, signal);
    const info = await probeRemote(served, signal);
    this.#checkNotHeld();
    this.#loaded?.model.dispose();
    this.#loaded = null;
    this.#remote = { served, info };
    return info;
  }

  /** Throws as {@link episode} does where an episode of these settings cannot start from the adapter. */
  checkStart(start: StartCandidate, asked: Settings): void {
    if (this.#remote) throw servedStart(start);
    checkStart(start, asked, this.loaded.model.config);
  }

  /**
   * Policy and learner for one episode, with a fresh adapter or the given one. Throws `not_found` without a
   * model, `bad_input` for an adapter of another model, and `bad_config` for one that the settings cannot go on
   * training, and where summaries are to come from a served model and none is given. The model is held until
   * the faces are disposed.
   */
  async episode(task: TaskRef, asked: Settings, extras: EpisodeExtras = {}): Promise<EpisodeFaces> {
    const held = this.hold();
    try {
      const faces = await this.#faces(task, asked, extras);
      return {
        ...faces,
        dispose() {
          using _ = held; // also where a lost device does not let go
          faces.dispose();
        },
      };
    } catch (thrown) {
      held[Symbol.dispose]();
      throw thrown;
    }
  }

  async #faces(
    task: TaskRef,
    asked: Settings,
    {
      reflections = [],
      summaryServer = null,
      kernels: recorded,
      startAdapter = null,
    }: EpisodeExtras,
  ): Promise<EpisodeFaces> {
    const settings = withMethod(asked);
    const served = summaryRef(settings, summaryServer);
    const extras = {
      ...(served && { summaryServer: serverAddress(served.baseUrl) }),
      ...(reflections.length > 0 && { reflections }),
      ...(startAdapter && { startAdapter: startAdapterRef(startAdapter) }),
    };
    const summariesOf = (policy: Policy, learner: Learner) =>
      served ? servedSummaries(served, (text) => learner.encode(text)) : ownSummaries(policy);
    if (this.#remote) {
      if (startAdapter) this.checkStart(startAdapter, settings);
      const trains = methods[settings.method].trains !== 'never';
      const faces = remoteEpisode(this.#remote.served, task, settings, trains);
      const manifest = { ...faces.manifest, ...extras };
      const summaries = summariesOf(faces.policy, faces.learner);
      return { ...faces, summaries, manifest, dispose() {} };
    }
    const { model, tokenizer, tokenizerSha256, gguf, file, info } = this.loaded;
    const template = chatTemplateOf(gguf.metadata);
    const backend = await this.backend();
    const kernels = await this.#settle(model, recorded);
    if (startAdapter) this.checkStart(startAdapter, settings);
    const targets: readonly LoraTarget[] = settings.target_modules;
    const start =
      startAdapter?.data ??
      freshAdapter(
        { rank: settings.lora_rank, alpha: settings.lora_alpha, targets },
        model.config.layers,
        (target) => projectionShape(model.config, target),
        deriveRng(settings.seed, task.env, task.split, task.index, 'lora'),
      );
    const conversation = cacheFor(model);
    const learner = new LoraLearner(model, tokenizer, start, conversation);
    const policy = new LlamaPolicy(model, tokenizer, template, learner.adapter, conversation);
    return {
      policy,
      learner,
      summaries: summariesOf(policy, learner),
      manifest: {
        schema: 2,
        appVersion: version,
        modelName: info.name,
        modelSha256: file.sha256,
        quantisation: info.quantisation,
        tokenizerSha256,
        architecture: info.architecture,
        heads: info.heads,
        kvHeads: info.kvHeads,
        backend: backend.name,
        device: backend.device,
        ...(kernels !== null && { kernels }),
        env: task.env,
        task,
        settings,
        ...extras,
      },
      dispose() {
        policy.dispose();
        learner.dispose();
      },
    };
  }
}

/** The served model that these settings take summaries from; null where the policy or nobody writes them. */
function summaryRef(settings: Settings, server: RemoteRef | null): RemoteRef | null {
  const { summary_model: model } = settings;
  if (!asksForSummaries(settings) || model === '') return null;
  if (server) return { ...server, model };
  throw new LabError(
    'bad_config',
    `Update text "summary" is to come from the model "${model}", and no server for it is connected. Connect one, name its base_url in config.toml, or leave the summary model empty: then the policy writes its own.`,
  );
}

/** A tab cannot put an adapter onto a server's disk. */
function servedStart({ name }: StartCandidate): LabError {
  return new LabError(
    'bad_config',
    `The run is to start from the adapter "${name}", and the model is on a server, which reads adapters from its own disk alone. Name the adapter's path there as the server's adapter, or load the model here.`,
  );
}

function infoOf(
  file: ModelFile,
  { metadata }: GgufFile,
  model: LlamaModel,
  tokenizer: Tokenizer,
  backend: BackendName,
): ModelInfo {
  const { config } = model;
  const counts = new Map<string, number>();
  for (const { type, rows, cols } of model.matrices)
    counts.set(type, (counts.get(type) ?? 0) + rows * cols);
  const [quantisation] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['F32'];
  return {
    name: metadataText(metadata, 'general.name') ?? file.source.name,
    architecture: config.architecture,
    quantisation,
    parameters: model.parameters,
    fileBytes: file.source.size,
    sha256: file.sha256,
    layers: config.layers,
    width: config.width,
    heads: config.heads,
    kvHeads: config.kvHeads,
    vocabulary: config.vocabulary,
    contextLength: config.contextLength,
    licence: metadataText(metadata, 'general.license'),
    memory: estimateMemory(config, { backend, tensors: model.matrices, ...defaultNeeds }),
    warnings: [...tokenizer.warnings, ...(file.note ? [file.note] : [])],
  };
}
