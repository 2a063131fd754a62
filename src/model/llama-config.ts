/**
 * What a GGUF file says about the shape of its model, checked against what this program can run.
 * Reads metadata and tensor names only; no weights.
 */

import { type LoraTarget, loraTargets } from '../config.ts';
import { LabError } from '../errors.ts';
import type { GgufFile, GgufTensor } from '../formats/gguf.ts';
import { type Activation, type Architecture, FAMILIES, type Family, known } from './families.ts';
import type { ProjectionShape } from './lora.ts';
import type { RopeScaling, RopeStyle } from './ops/index.ts';
import { readRopeScaling } from './rope-scaling.ts';

/** How one layer sees other positions. */
export interface LayerSight {
  /** Positions that a query sees, its own included; null: all. */
  readonly window: number | null;
  /** Which of the model's RoPE tables turns its queries and keys. */
  readonly rope: 'global' | 'local';
}

export interface LlamaConfig {
  readonly architecture: Architecture;
  readonly layers: number;
  /** Width of the residual stream. */
  readonly width: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Width of the MLP's inner layer. */
  readonly inner: number;
  readonly vocabulary: number;
  /** Tokens; what the file was trained for, cut to what was asked. */
  readonly contextLength: number;
  readonly rmsEpsilon: number;
  readonly ropeStyle: RopeStyle;
  readonly ropeBase: number;
  readonly ropeScaling: RopeScaling;
  /** RoPE's base in the layers whose rope is local; null where there are none. */
  readonly localRopeBase: number | null;
  /** One a layer. */
  readonly sights: readonly LayerSight[];
  /** What scores are multiplied by. */
  readonly attentionScale: number;
  readonly activation: Activation;
  /** What embeddings are multiplied by. */
  readonly embeddingScale: number;
  /** True when the file has no output matrix: the head is the embedding. */
  readonly tied: boolean;
}

/** Where a layer's tensors are in the file. */
export const PROJECTION_TENSORS: Readonly<Record<LoraTarget, string>> = {
  q_proj: 'attn_q',
  k_proj: 'attn_k',
  v_proj: 'attn_v',
  o_proj: 'attn_output',
  gate_proj: 'ffn_gate',
  up_proj: 'ffn_up',
  down_proj: 'ffn_down',
};

/**
 * The model's shape. `contextLength` is what the caller wants at most. Throws `unsupported` for
 * another architecture or a feature that is not implemented, `bad_input` for a missing or
 * impossible value and for tensors that are missing, left over or of another shape.
 */
export function readLlamaConfig(gguf: GgufFile, contextLength?: number): LlamaConfig {
  const architecture = known(gguf.metadata['general.architecture']);
  const family: Family = FAMILIES[architecture];
  const read = reader(gguf, architecture);
  refuseUnsupported(gguf, architecture);
  const layers = read.count('block_count');
  const width = read.count('embedding_length');
  const heads = read.count('attention.head_count');
  const kvHeads = read.count('attention.head_count_kv', heads);
  const headDim = read.count('attention.key_length', width / heads);
  const trained = read.count('context_length');
  const embedding = gguf.tensors.find(({ name }) => name === 'token_embd.weight');
  if (embedding === undefined) {
    throw bad('The tensor "token_embd.weight" is missing; expected the token embedding.');
  }
  const queryWidth = family.scaledByWidth.includes(layers) ? width / heads : headDim;
  const config: LlamaConfig = {
    architecture,
    layers,
    width,
    heads,
    kvHeads,
    headDim,
    inner: read.count('feed_forward_length'),
    vocabulary: embedding.rows,
    contextLength: Math.min(trained, contextLength ?? trained),
    rmsEpsilon: read.number('attention.layer_norm_rms_epsilon'),
    ropeStyle: family.ropeStyle,
    ropeBase: read.number('rope.freq_base', 10_000),
    ropeScaling: readRopeScaling(gguf.metadata, architecture, trained),
    localRopeBase: family.localLayers
      ? read.number('rope.freq_base_swa', family.localLayers.ropeBase)
      : null,
    sights: sightsOf(gguf, architecture, layers, read),
    attentionScale: read.number('attention.scale', 1 / Math.sqrt(queryWidth)),
    activation: family.activation,
    embeddingScale: family.scaledEmbedding ? Math.sqrt(width) : 1,
    tied: !gguf.tensors.some(({ name }) => name === 'output.weight'),
  };
  checkHeads(config, read.count('attention.value_length', headDim), read);
  checkTensors(gguf, config, family);
  return config;
}

/** Local and global layers: by the file's pattern where it has one, else every period-th is global. */
function sightsOf(
  { metadata }: GgufFile,
  architecture: Architecture,
  layers: number,
  read: Reader,
): LayerSight[] {
  const { localLayers }: Family = FAMILIES[architecture];
  const all = Array.from({ length: layers }, (_, layer) => layer);
  if (localLayers === null) return all.map(() => ({ window: null, rope: 'global' }));
  const window = read.count('attention.sliding_window');
  const pattern = metadata[`${architecture}.attention.sliding_window_pattern`];
  const isLocal = (layer: number) =>
    Array.isArray(pattern)
      ? pattern[layer] === true
      : (layer + 1) % (typeof pattern === 'number' ? pattern : localLayers.period) !== 0;
  return all.map((layer) =>
    isLocal(layer) ? { window, rope: 'local' } : { window: null, rope: 'global' },
  );
}

/** Inputs and outputs of a projection. */
export function projectionShape(config: LlamaConfig, target: LoraTarget): ProjectionShape {
  const { width, inner } = config;
  const q = config.heads * config.headDim;
  const kv = config.kvHeads * config.headDim;
  switch (target) {
    case 'q_proj':
      return { inputs: width, outputs: q };
    case 'k_proj':
    case 'v_proj':
      return { inputs: width, outputs: kv };
    case 'o_proj':
      return { inputs: q, outputs: width };
    case 'gate_proj':
    case 'up_proj':
      return { inputs: width, outputs: inner };
    case 'down_proj':
      return { inputs: inner, outputs: width };
    default:
      return target satisfies never;
  }
}

/** Keys of features that change the arithmetic and are not implemented, with what they mean. */
const REFUSED = {
  expert_count: 'a mixture of experts',
  attn_logit_softcapping: 'a soft cap on attention scores',
  final_logit_softcapping: 'a soft cap on logits',
} as const;

function refuseUnsupported(gguf: GgufFile, architecture: Architecture): void {
  for (const [key, what] of Object.entries(REFUSED)) {
    const value = gguf.metadata[`${architecture}.${key}`];
    if (typeof value === 'number' && value > 0) {
      throw unsupported(
        `The model has ${what} ("${architecture}.${key}" is ${value})`,
        `dense layers without soft caps, of the families ${Object.keys(FAMILIES).join(', ')}`,
      );
    }
  }
}

function checkHeads(config: LlamaConfig, valueLength: number, read: Reader): void {
  const { heads, kvHeads, headDim } = config;
  const turned = read.count('rope.dimension_count', headDim);
  const whole = Number.isInteger(headDim) && headDim % 2 === 0 && heads % kvHeads === 0;
  if (!whole) {
    throw bad(
      `The model has ${heads} heads of width ${headDim} over ${kvHeads} key-value heads; expected an even width and heads that divide evenly.`,
    );
  }
  if (turned !== headDim || valueLength !== headDim) {
    throw unsupported(
      `Heads are ${headDim} wide, values ${valueLength}, and RoPE turns ${turned} channels`,
      'three equal numbers',
    );
  }
}

/** Every tensor is there with its shape, and none is left over: a leftover changes the arithmetic. */
function checkTensors(gguf: GgufFile, config: LlamaConfig, family: Family): void {
  const expected = expectedShapes(config, family);
  const found = new Map(gguf.tensors.map((tensor) => [tensor.name, tensor]));
  const missing = [...expected.keys()].filter((name) => !found.has(name));
  const extra = [...found.keys()].filter((name) => !expected.has(name) && name !== ROPE_FACTORS);
  if (missing.length > 0) {
    throw bad(
      `${missing.length} tensors are missing: ${some(missing)}. The file is incomplete, or its metadata are wrong; fetch it again.`,
    );
  }
  if (extra.length > 0) {
    throw unsupported(`The file has ${extra.length} tensors more: ${some(extra)}`, 'none of these');
  }
  for (const [name, shape] of expected) checkShape(found.get(name), shape);
  checkShape(found.get(ROPE_FACTORS), [config.headDim / 2]);
}

/** llama 3's frequency factors, one a pair of channels. */
export const ROPE_FACTORS = 'rope_freqs.weight';

/** Where a layer's norms are in the file; heads: of q and k, post: of what joins the residual. */
export const NORM_TENSORS = {
  attention: 'attn_norm',
  mlp: 'ffn_norm',
  query: 'attn_q_norm',
  key: 'attn_k_norm',
  attentionPost: 'post_attention_norm',
  mlpPost: 'post_ffw_norm',
} as const;

/** Names and shapes in GGUF's order, the fastest axis first. */
function expectedShapes(config: LlamaConfig, family: Family): Map<string, readonly number[]> {
  const { width, vocabulary, layers, headDim } = config;
  const shapes = new Map<string, readonly number[]>([
    ['token_embd.weight', [width, vocabulary]],
    ['output_norm.weight', [width]],
  ]);
  if (!config.tied) shapes.set('output.weight', [width, vocabulary]);
  const norm = (layer: number, tensor: string, size: number) =>
    shapes.set(`blk.${layer}.${tensor}.weight`, [size]);
  for (let layer = 0; layer < layers; layer++) {
    norm(layer, NORM_TENSORS.attention, width);
    norm(layer, NORM_TENSORS.mlp, width);
    if (family.headNorms) {
      norm(layer, NORM_TENSORS.query, headDim);
      norm(layer, NORM_TENSORS.key, headDim);
    }
    if (family.postNorms) {
      norm(layer, NORM_TENSORS.attentionPost, width);
      norm(layer, NORM_TENSORS.mlpPost, width);
    }
    for (const target of loraTargets) {
      const tensor = `blk.${layer}.${PROJECTION_TENSORS[target]}`;
      const { inputs, outputs } = projectionShape(config, target);
      shapes.set(`${tensor}.weight`, [inputs, outputs]);
      if (family.biases.includes(target)) shapes.set(`${tensor}.bias`, [outputs]);
    }
  }
  return shapes;
}

function checkShape(tensor: GgufTensor | undefined, expected: readonly number[]): void {
  if (tensor === undefined || tensor.shape.join() === expected.join()) return;
  throw bad(
    `The tensor "${tensor.name}" has shape [${tensor.shape.join(', ')}]; expected [${expected.join(', ')}]. The metadata do not fit the weights; fetch the file again.`,
  );
}

interface Reader {
  /** A positive number; throws `bad_input` when it is neither there nor has a default. */
  number(key: string, otherwise?: number): number;
  /** A positive integer. */
  count(key: string, otherwise?: number): number;
}

function reader(gguf: GgufFile, architecture: Architecture): Reader {
  const number = (key: string, otherwise?: number): number => {
    const name = `${architecture}.${key}`;
    const value = gguf.metadata[name] ?? otherwise;
    if (typeof value === 'number' && value > 0) return value;
    throw bad(`"${name}" is ${JSON.stringify(value ?? null)}; expected a positive number.`);
  };
  return {
    number,
    count(key, otherwise) {
      const value = number(key, otherwise);
      if (Number.isSafeInteger(value)) return value;
      throw bad(`"${architecture}.${key}" is ${value}; expected a whole number.`);
    },
  };
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

function bad(message: string): LabError {
  return new LabError('bad_input', message);
}

function unsupported(found: string, expected: string): LabError {
  return new LabError('unsupported', `${found}; supported: ${expected}. Choose another model.`);
}
