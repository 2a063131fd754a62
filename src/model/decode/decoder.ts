/**
 * One token through the whole model in one submit, recorded directly on the device beside tfjs: at most
 * seven dispatches a layer and two besides, buffers, pipelines and bind groups made once. The ops of
 * forward.ts are its reference, and what runs where it does not fit.
 */

import * as tf from '@tensorflow/tfjs-core';
import { LabError } from '../../errors.ts';
import type { KvCache } from '../cache.ts';
import type { LlamaLayer, LlamaModel } from '../llama.ts';
import type { Adapter } from '../lora.ts';
import { gpuBackend, submitRecorded } from '../ops/program.ts';
import type { WeightMatrix } from '../weights.ts';
import { attendShader, hiddenShader, type ThinTerm, turnShader } from './attention-wgsl.ts';
import { type Compiled, Compiler, chooseLanes } from './compile.ts';
import {
  embedShader,
  gatedShader,
  type Lanes,
  type Matrix,
  productsShader,
  residualShader,
  type Shader,
} from './wgsl.ts';

/** The projections whose adapter terms the decoder knows. */
const ADAPTED = ['q_proj', 'k_proj', 'v_proj'] as const;

/** Storage buffers that the widest kernel binds: three matrices in two planes, x, gain, result. */
const BUFFERS_NEEDED = 9;

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

const decoders = new WeakMap<LlamaModel, Promise<Decoder>>();

/** The model's decoder, made at its first use; freed with the model. Call where {@link decoderFits}. */
export function decoderOf(model: LlamaModel): Promise<Decoder> {
  const known = decoders.get(model);
  if (known !== undefined) return known;
  const made = makeDecoder(model);
  decoders.set(model, made);
  return made;
}

/** The variant in which a model's tokens are decoded, for the run's record; null where the ops do it. */
export async function decodeVariant(model: LlamaModel): Promise<string | null> {
  if (!decoderFits(model, null)) return null;
  const { lanes } = await decoderOf(model);
  return `one submit, ${lanes} ${lanes === 1 ? 'lane' : 'lanes'} a row`;
}

async function makeDecoder(model: LlamaModel): Promise<Decoder> {
  const compiler = new Compiler(gpuBackend().device);
  const decoder = new Decoder(model, compiler, await chooseLanes(compiler, sampleOf(model)));
  model.own(decoder);
  return decoder;
}

/** The product whose speed decides: the widest inner one. */
function sampleOf({ layers }: LlamaModel): Matrix {
  const [first] = layers;
  if (first !== undefined) return first.projections.gate_proj;
  throw new LabError('internal', 'The model has no layers.');
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
export class Decoder {
  /** How many invocations share a row of a product, as measured on this device. */
  readonly lanes: Lanes;
  readonly #model: LlamaModel;
  readonly #compiler: Compiler;
  readonly #buffers: Readonly<Record<ActivationName, GPUBuffer>>;
  readonly #tapes = new WeakMap<KvCache, Tape>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(model: LlamaModel, compiler: Compiler, lanes: Lanes) {
    this.#model = model;
    this.#compiler = compiler;
    this.lanes = lanes;
    this.#buffers = activationBuffers(compiler.device, model);
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
    // One at a time: they share the buffers.
    const run = this.#last.then(() => this.#run(adapter, cache, id, position));
    this.#last = run.catch(() => {});
    return run;
  }

  async #run(
    adapter: Adapter | null,
    cache: KvCache,
    id: number,
    position: number,
  ): Promise<tf.Tensor2D> {
    const { device } = this.#compiler;
    const { steps } = this.#tapeFor(adapter, cache);
    // What tfjs has recorded for the cache so far comes first.
    submitRecorded();
    const { token, logits, read } = this.#buffers;
    device.queue.writeBuffer(token, 0, Uint32Array.of(id, position));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const { pipeline, group, workgroups } of steps) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(workgroups);
    }
    pass.end();
    encoder.copyBufferToBuffer(logits, 0, read, 0, logits.size);
    device.queue.submit([encoder.finish()]);
    await read.mapAsync(GPUMapMode.READ);
    const row = new Float32Array(read.getMappedRange()).slice();
    read.unmap();
    return tf.tensor2d(row, [1, row.length]);
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
    const { stream, middle, qkv, hidden, mixed, gated, logits } = this.#buffers;
    const lanes = this.lanes;
    const norm = { eps: config.rmsEpsilon };
    const steps = [this.#bind(embedShader(embedding), [...planesOf(embedding), stream])];
    layers.forEach((layer, index) => {
      const { q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj } = layer.projections;
      const rows = cache.layer(index);
      const [cacheK, cacheV] = [bufferOf(rows.k), bufferOf(rows.v)];
      const joint = [q_proj, k_proj, v_proj];
      const gain = bufferOf(layer.attentionNorm);
      const { terms, aT, bT } = thinTerms(layer, adapter, index);
      const add = (shader: Shader, buffers: readonly GPUBuffer[]) =>
        void steps.push(this.#bind(shader, buffers));
      add(productsShader(joint, norm, lanes), [stream, gain, ...joint.flatMap(planesOf), qkv]);
      if (terms.length > 0) {
        add(hiddenShader(terms, config.width, norm.eps), [stream, gain, ...aT, hidden]);
      }
      const angles = [bufferOf(layer.rope.cos), bufferOf(layer.rope.sin)];
      const thin = terms.length > 0 ? [hidden, ...bT] : [];
      add(turnShader(layer.heads, layer.rope.style, terms), [
        qkv,
        ...angles,
        cacheK,
        cacheV,
        ...thin,
      ]);
      add(attendShader(layer.heads), [qkv, cacheK, cacheV, mixed]);
      add(residualShader(o_proj, lanes), [mixed, ...planesOf(o_proj), stream, middle]);
      add(gatedShader(gate_proj, up_proj, norm, lanes), [
        middle,
        bufferOf(layer.mlpNorm),
        ...planesOf(gate_proj),
        ...planesOf(up_proj),
        gated,
      ]);
      add(residualShader(down_proj, lanes), [gated, ...planesOf(down_proj), middle, stream]);
    });
    const last = [stream, bufferOf(outputNorm), ...planesOf(head), logits];
    steps.push(this.#bind(productsShader([head], norm, lanes), last));
    return steps;
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
    for (const buffer of Object.values(this.#buffers)) buffer.destroy();
    decoders.delete(this.#model);
  }
}

type ActivationName =
  | 'token'
  | 'stream'
  | 'middle'
  | 'qkv'
  | 'hidden'
  | 'mixed'
  | 'gated'
  | 'logits'
  | 'read';

function activationBuffers(
  device: GPUDevice,
  { config }: LlamaModel,
): Record<ActivationName, GPUBuffer> {
  const { width, heads, kvHeads, headDim, inner, vocabulary } = config;
  const { STORAGE, UNIFORM, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
  const make = (name: ActivationName, values: number, usage = STORAGE) =>
    device.createBuffer({ label: `decode:${name}`, size: 4 * values, usage });
  return {
    token: make('token', 2, UNIFORM | COPY_DST),
    stream: make('stream', width),
    middle: make('middle', width),
    qkv: make('qkv', (heads + 2 * kvHeads) * headDim),
    hidden: make('hidden', ADAPTED.length * MOST_RANK),
    mixed: make('mixed', heads * headDim),
    gated: make('gated', inner),
    logits: make('logits', vocabulary, STORAGE | COPY_SRC),
    read: make('read', vocabulary, COPY_DST | MAP_READ),
  };
}

/** The largest rank of an adapter that the decoder takes. */
const MOST_RANK = 256;

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
