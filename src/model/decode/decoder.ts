/**
 * One token through the whole model in one submit, recorded directly on the device beside tfjs: at most
 * eight dispatches a layer and four besides, buffers, pipelines and bind groups made once. The ops of
 * forward.ts are its reference, and what runs where it does not fit.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import type { KvCache } from '../cache.ts';
import type { LlamaLayer, LlamaModel } from '../llama.ts';
import type { Adapter } from '../lora.ts';
import { gpuBackend, submitRecorded } from '../ops/program.ts';
import type { SampledToken } from '../sampler.ts';
import { type Choice, choiceOn } from '../variants.ts';
import type { WeightMatrix } from '../weights.ts';
import {
  attendShader,
  hiddenShader,
  mergeShader,
  partsLength,
  partsShader,
  type ThinTerm,
  turnShader,
} from './attention-wgsl.ts';
import { type Compiled, type Compiler, compilerOf } from './compile.ts';
import { blocksLength, blocksShader, pickShader } from './sample-wgsl.ts';
import {
  embedShader,
  gatedShader,
  LINE,
  normedLength,
  productsShader,
  residualShader,
  type Shader,
  type Split,
  splitOf,
} from './wgsl.ts';

/** The projections whose adapter terms the decoder knows. */
const ADAPTED = ['q_proj', 'k_proj', 'v_proj'] as const;

/** Storage buffers that the widest kernel binds: three matrices in two planes, x, result. */
const BUFFERS_NEEDED = 8;

/** True where the decoder computes what the ops would; else the ops must. */
export function decoderFits(model: LlamaModel, adapter: Adapter | null): boolean {
  if (tf.getBackend() !== 'webgpu') return false;
  if (gpuBackend().device.limits.maxStorageBuffersPerShaderStage < BUFFERS_NEEDED) return false;
  const { activation, embeddingScale } = model.config;
  if (activation !== 'silu' || embeddingScale !== 1) return false;
  const plain = ({ queryNorm, keyNorm, attentionPostNorm, mlpPostNorm, biases }: LlamaLayer) =>
    [queryNorm, keyNorm, attentionPostNorm, mlpPostNorm].every((norm) => norm === null) &&
    Object.keys(biases).length === 0;
  const whole = ({ cols, storage }: WeightMatrix) =>
    cols % 32 === 0 && storage.kind === 'gpu' && storage.shards.length === 1;
  const known = ({ target }: { target: string }) => ADAPTED.some((each) => each === target);
  return (
    model.layers.every(plain) &&
    model.matrices.every(whole) &&
    (adapter === null || adapter.modules.every(known))
  );
}

interface MadeDecoder {
  readonly decoder: Decoder;
  readonly choice: Choice;
}

const decoders = new WeakMap<LlamaModel, MadeDecoder>();

/** The model's decoder for the variants in use, made when first needed; freed with the model. Call where {@link decoderFits}. */
export function decoderOf(model: LlamaModel): Decoder {
  const { device } = gpuBackend();
  const choice = choiceOn(device);
  const known = decoders.get(model);
  if (known?.choice === choice) return known.decoder;
  known?.decoder.dispose();
  const decoder = new Decoder(model, compilerOf(device), choice);
  decoders.set(model, { decoder, choice });
  model.own(decoder);
  return decoder;
}

/** How the next token is drawn. */
export interface Draw {
  /** 0: the likeliest token. */
  readonly temperature: number;
  /** Uniform in [0, 1); unused where the temperature is 0. */
  readonly quantile: number;
}

/** A dispatch that is recorded as it stands for every token. */
interface Recorded {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly workgroups: number;
}

/** What one cache under one state of an adapter needs; remade when either has other buffers. */
interface Tape {
  readonly steps: readonly Recorded[];
  readonly firstRows: tf.Tensor;
  readonly adapter: Adapter | null;
  readonly version: number;
}

/** Owns the activations' buffers of one model. */
class Decoder {
  readonly #choice: Choice;
  readonly #split: Split;
  readonly #model: LlamaModel;
  readonly #compiler: Compiler;
  readonly #buffers: Readonly<Record<ActivationName, GPUBuffer>>;
  #tapes = new WeakMap<KvCache, Tape>();
  /** The adapter's hidden values of one layer, as many as the largest one so far needed. */
  #hidden: GPUBuffer;
  /** Draws a token from the logits; the same for every cache and adapter. */
  readonly #sampling: readonly Recorded[];
  #last: Promise<unknown> = Promise.resolve();

  constructor(model: LlamaModel, compiler: Compiler, choice: Choice) {
    this.#model = model;
    this.#compiler = compiler;
    this.#choice = choice;
    this.#split = splitOf(choice.matvec, compiler.device);
    this.#buffers = activationBuffers(compiler.device, model, this.#split);
    this.#hidden = storageBuffer(compiler.device, 'hidden', FIRST_RANKS);
    const { logits, blocks, sampled } = this.#buffers;
    const { vocabulary } = model.config;
    this.#sampling = [
      this.#bind(blocksShader(vocabulary), [logits, blocks]),
      this.#bind(pickShader(vocabulary), [logits, blocks, sampled]),
    ];
  }

  /**
   * Logits [1, V] of `id` at `position`, whose keys and values become that row of the cache, in which
   * there is room. Returns owned, already on the host.
   */
  step(
    adapter: Adapter | null,
    cache: KvCache,
    id: number,
    position: number,
  ): Promise<tf.Tensor2D> {
    return this.#inTurn(async () => {
      const { logits, read } = this.#buffers;
      const { steps } = this.#tapeFor(adapter, cache);
      const row = await this.#run(steps, { id, position }, logits, read);
      return tf.tensor2d(row, [1, row.length]);
    });
  }

  /** As {@link step}, but the next token is drawn on the device: 12 bytes come back. */
  sample(
    adapter: Adapter | null,
    cache: KvCache,
    id: number,
    position: number,
    draw: Draw,
  ): Promise<SampledToken> {
    return this.#inTurn(async () => {
      const { sampled, readSampled } = this.#buffers;
      const { steps } = this.#tapeFor(adapter, cache);
      const all = [...steps, ...this.#sampling];
      const found = await this.#run(all, { id, position, draw }, sampled, readSampled);
      const [next = 0, logprob = Number.NaN, entropy = Number.NaN] = found;
      return { id: next, logprob, entropy };
    });
  }

  /** One at a time: they share the buffers. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => {});
    return run;
  }

  async #run(
    steps: readonly Recorded[],
    { id, position, draw }: { id: number; position: number; draw?: Draw },
    result: GPUBuffer,
    read: GPUBuffer,
  ): Promise<Float32Array<ArrayBuffer>> {
    const { device } = this.#compiler;
    // What tfjs has recorded for the cache so far comes first.
    submitRecorded();
    const numbers = new ArrayBuffer(16);
    new Uint32Array(numbers, 0, 2).set([id, position]);
    new Float32Array(numbers, 8, 2).set([draw?.temperature ?? 0, draw?.quantile ?? 0]);
    device.queue.writeBuffer(this.#buffers.token, 0, numbers);
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const { pipeline, group, workgroups } of steps) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(Math.min(workgroups, LINE), Math.ceil(workgroups / LINE));
    }
    pass.end();
    encoder.copyBufferToBuffer(result, 0, read, 0, result.size);
    device.queue.submit([encoder.finish()]);
    await read.mapAsync(GPUMapMode.READ);
    const values = new Float32Array(read.getMappedRange()).slice();
    read.unmap();
    return values;
  }

  #tapeFor(adapter: Adapter | null, cache: KvCache): Tape {
    const firstRows = cache.layer(0).k;
    const version = adapter?.version ?? 0;
    const known = this.#tapes.get(cache);
    if (known?.firstRows === firstRows && known.adapter === adapter && known.version === version) {
      return known;
    }
    const steps = this.#record(adapter, cache);
    const tape = { steps, firstRows, adapter, version };
    this.#tapes.set(cache, tape);
    return tape;
  }

  #record(adapter: Adapter | null, cache: KvCache): Recorded[] {
    const { embedding, head, layers, outputNorm, config } = this.#model;
    const { stream, normed, middle, qkv, parts, mixed, gated, logits } = this.#buffers;
    const split = this.#split;
    const norm = { eps: config.rmsEpsilon };
    const normedX = { width: config.width, length: normedLength(config.width, split), ...norm };
    const hidden = this.#hiddenFor(adapter);
    const steps: Recorded[] = [];
    const add = (shader: Shader, buffers: readonly GPUBuffer[]) =>
      void steps.push(this.#bind(shader, buffers));
    // The gain of the norm that reads the stream next: a layer's own first, at the end the model's.
    const gainAt = (index: number) => bufferOf(layers[index]?.attentionNorm ?? outputNorm);
    add(embedShader(embedding, split), [...planesOf(embedding), gainAt(0), stream, normed]);
    layers.forEach((layer, index) => {
      const { q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj } = layer.projections;
      const rows = cache.layer(index);
      const [cacheK, cacheV] = [bufferOf(rows.k), bufferOf(rows.v)];
      const joint = [q_proj, k_proj, v_proj];
      const { terms, aT, bT } = thinTerms(layer, adapter, index);
      add(productsShader(joint, norm, split), [normed, ...joint.flatMap(planesOf), qkv]);
      if (terms.length > 0) add(hiddenShader(terms, normedX), [normed, ...aT, hidden]);
      const angles = [bufferOf(layer.rope.cos), bufferOf(layer.rope.sin)];
      const thin = terms.length > 0 ? [hidden, ...bT] : [];
      const turned = turnShader(layer.heads, layer.rope.style, terms);
      add(turned, [qkv, ...angles, cacheK, cacheV, ...thin]);
      switch (this.#choice.attention) {
        case 'registers':
          add(partsShader(layer.heads), [qkv, cacheK, cacheV, parts]);
          add(mergeShader(layer.heads), [parts, mixed]);
          break;
        case 'workgroup':
          add(attendShader(layer.heads), [qkv, cacheK, cacheV, mixed]);
          break;
        default:
          this.#choice.attention satisfies never;
      }
      const mlpGain = bufferOf(layer.mlpNorm);
      add(residualShader(o_proj, split), [
        ...[mixed, ...planesOf(o_proj), stream],
        ...[mlpGain, middle, normed],
      ]);
      const gates = [...planesOf(gate_proj), ...planesOf(up_proj)];
      add(gatedShader(gate_proj, up_proj, norm, split), [normed, ...gates, gated]);
      add(residualShader(down_proj, split), [
        ...[gated, ...planesOf(down_proj), middle],
        ...[gainAt(index + 1), stream, normed],
      ]);
    });
    add(productsShader([head], norm, split), [normed, ...planesOf(head), logits]);
    return steps;
  }

  /** Holds the hidden values of the adapter's widest layer; what is recorded with a smaller one goes. */
  #hiddenFor(adapter: Adapter | null): GPUBuffer {
    const { layers } = this.#model;
    const ranks = layers.map((layer, index) =>
      thinTerms(layer, adapter, index).terms.reduce((sum, { rank }) => sum + rank, 0),
    );
    const most = Math.max(...ranks);
    if (4 * most > this.#hidden.size) {
      this.#hidden.destroy();
      this.#hidden = storageBuffer(this.#compiler.device, 'hidden', most);
      this.#tapes = new WeakMap();
    }
    return this.#hidden;
  }

  #bind(shader: Shader, buffers: readonly GPUBuffer[]): Recorded {
    const { pipeline, layout }: Compiled = this.#compiler.compile(shader);
    const entries = [this.#buffers.token, ...buffers].map((buffer, binding) => ({
      binding,
      resource: { buffer },
    }));
    const group = this.#compiler.device.createBindGroup({ layout, entries });
    return { pipeline, group, workgroups: shader.workgroups };
  }

  dispose(): void {
    for (const buffer of [...Object.values(this.#buffers), this.#hidden]) buffer.destroy();
    if (decoders.get(this.#model)?.decoder === this) decoders.delete(this.#model);
  }
}

type ActivationName =
  | 'token'
  | 'stream'
  | 'normed'
  | 'middle'
  | 'qkv'
  | 'parts'
  | 'mixed'
  | 'gated'
  | 'logits'
  | 'read'
  | 'blocks'
  | 'sampled'
  | 'readSampled';

function activationBuffers(
  device: GPUDevice,
  { config, layers }: LlamaModel,
  split: Split,
): Record<ActivationName, GPUBuffer> {
  const { width, heads, kvHeads, headDim, inner, vocabulary } = config;
  const { STORAGE, UNIFORM, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
  const make = (name: ActivationName, values: number, usage = STORAGE) =>
    device.createBuffer({ label: `decode:${name}`, size: 4 * values, usage });
  return {
    token: make('token', 4, UNIFORM | COPY_DST),
    stream: make('stream', width),
    normed: make('normed', normedLength(width, split)),
    middle: make('middle', width),
    qkv: make('qkv', (heads + 2 * kvHeads) * headDim),
    parts: make('parts', Math.max(...layers.map((layer) => partsLength(layer.heads)))),
    mixed: make('mixed', heads * headDim),
    gated: make('gated', inner),
    logits: make('logits', vocabulary, STORAGE | COPY_SRC),
    read: make('read', vocabulary, COPY_DST | MAP_READ),
    blocks: make('blocks', blocksLength(vocabulary)),
    sampled: make('sampled', 3, STORAGE | COPY_SRC),
    readSampled: make('readSampled', 3, COPY_DST | MAP_READ),
  };
}

/** Hidden values for which there is room at once: q, k and v of rank 16. */
const FIRST_RANKS = 48;

function storageBuffer(device: GPUDevice, name: string, values: number): GPUBuffer {
  const usage = GPUBufferUsage.STORAGE;
  return device.createBuffer({ label: `decode:${name}`, size: 4 * values, usage });
}

/** The adapter's terms of one layer, in the joint vector's order, with their buffers. */
function thinTerms(
  { projections }: LlamaLayer,
  adapter: Adapter | null,
  index: number,
): { terms: ThinTerm[]; aT: GPUBuffer[]; bT: GPUBuffer[] } {
  const terms: ThinTerm[] = [];
  const aT: GPUBuffer[] = [];
  const bT: GPUBuffer[] = [];
  let first = 0;
  for (const target of ADAPTED) {
    const outputs = projections[target].rows;
    const module = adapter?.module(index, target);
    if (module !== undefined) {
      const [, rank] = module.aT.shape;
      terms.push({ first, outputs, rank, scale: module.scale });
      aT.push(bufferOf(module.aT));
      bT.push(bufferOf(module.bT));
    }
    first += outputs;
  }
  return { terms, aT, bT };
}

function planesOf({ name, storage }: WeightMatrix): GPUBuffer[] {
  if (storage.kind !== 'gpu') throw new LabError('internal', `${name} is not in GPU memory.`);
  return (storage.shards[0]?.planes ?? []).map(bufferOf);
}

/** The buffer behind a tensor, sent there now if tfjs has kept it on the host. */
function bufferOf(tensor: tf.Tensor): GPUBuffer {
  const backend = gpuBackend();
  backend.uploadToGPU(tensor.dataId);
  const { resource } = backend.tensorMap.get(tensor.dataId);
  return resource as GPUBuffer; // textures are made from images only
}
