/**
 * What a GGUF file says about the shape of its model, checked against what this program can run.
 * Reads metadata and tensor names only; no weights.
 */

import type { LoraTarget } from '../config.ts';
import { LabError } from '../errors.ts';
import type { GgufFile, GgufTensor } from '../formats/gguf.ts';
import type { ProjectionShape } from './lora.ts';
import type { RopeStyle } from './ops/index.ts';

/** The architectures that load today, by GGUF's names. */
const ROPE_STYLES = {
  // llama's converter permutes the rows of q and k so that a rotated pair is adjacent.
  llama: 'interleaved',
} as const satisfies Record<string, RopeStyle>;
export type Architecture = keyof typeof ROPE_STYLES;

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
  /** Linear position scaling; 1 for none. */
  readonly ropeScale: number;
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
  const architecture = architectureOf(gguf);
  const read = reader(gguf, architecture);
  refuseUnsupported(gguf, architecture);
  const width = read.count('embedding_length');
  const heads = read.count('attention.head_count');
  const kvHeads = read.count('attention.head_count_kv', heads);
  const headDim = read.count('attention.key_length', width / heads);
  const trained = read.count('context_length');
  const embedding = gguf.tensors.find(({ name }) => name === 'token_embd.weight');
  if (embedding === undefined) {
    throw bad('The tensor "token_embd.weight" is missing; expected the token embedding.');
  }
  const config: LlamaConfig = {
    architecture,
    layers: read.count('block_count'),
    width,
    heads,
    kvHeads,
    headDim,
    inner: read.count('feed_forward_length'),
    vocabulary: embedding.rows,
    contextLength: Math.min(trained, contextLength ?? trained),
    rmsEpsilon: read.number('attention.layer_norm_rms_epsilon'),
    ropeStyle: ROPE_STYLES[architecture],
    ropeBase: read.number('rope.freq_base', 10_000),
    ropeScale: ropeScaleOf(gguf, architecture),
    tied: !gguf.tensors.some(({ name }) => name === 'output.weight'),
  };
  checkHeads(config, read.count('attention.value_length', headDim), read);
  checkTensors(gguf, config);
  return config;
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

function architectureOf(gguf: GgufFile): Architecture {
  const found = gguf.metadata['general.architecture'];
  const known = Object.keys(ROPE_STYLES);
  if (typeof found === 'string' && isArchitecture(found)) return found;
  throw new LabError(
    'unsupported',
    `The model's architecture is ${JSON.stringify(found ?? null)}; supported: ${known.join(', ')}. Choose a model of that family.`,
    { architecture: String(found ?? ''), supported: known.join(', ') },
  );
}

function isArchitecture(name: string): name is Architecture {
  return Object.hasOwn(ROPE_STYLES, name);
}

/** Features that change the arithmetic and are not implemented. */
function refuseUnsupported(gguf: GgufFile, architecture: Architecture): void {
  const experts = gguf.metadata[`${architecture}.expert_count`];
  if (typeof experts === 'number' && experts > 0) {
    throw unsupported(`The model is a mixture of ${experts} experts`, 'dense layers');
  }
}

function ropeScaleOf(gguf: GgufFile, architecture: Architecture): number {
  const type = gguf.metadata[`${architecture}.rope.scaling.type`];
  const factor = gguf.metadata[`${architecture}.rope.scaling.factor`];
  if (type === undefined || type === 'none') return 1;
  if (type === 'linear' && typeof factor === 'number' && factor > 0) return factor;
  throw unsupported(
    `RoPE scaling is ${JSON.stringify(type)} with factor ${JSON.stringify(factor ?? null)}`,
    'none, linear, or factors in "rope_freqs.weight"',
  );
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
function checkTensors(gguf: GgufFile, config: LlamaConfig): void {
  const expected = expectedShapes(config);
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

/** Names and shapes in GGUF's order, the fastest axis first. */
function expectedShapes(config: LlamaConfig): Map<string, readonly number[]> {
  const { width, vocabulary, layers } = config;
  const shapes = new Map<string, readonly number[]>([
    ['token_embd.weight', [width, vocabulary]],
    ['output_norm.weight', [width]],
  ]);
  if (!config.tied) shapes.set('output.weight', [width, vocabulary]);
  for (let layer = 0; layer < layers; layer++) {
    shapes.set(`blk.${layer}.attn_norm.weight`, [width]);
    shapes.set(`blk.${layer}.ffn_norm.weight`, [width]);
    for (const [target, tensor] of Object.entries(PROJECTION_TENSORS)) {
      // Object.entries widens the keys of this Record of LoraTarget.
      const { inputs, outputs } = projectionShape(config, target as LoraTarget);
      shapes.set(`blk.${layer}.${tensor}.weight`, [inputs, outputs]);
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
