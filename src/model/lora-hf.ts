/**
 * An adapter in the layout and names of Hugging Face checkpoints: A [r, in], B [out, r], rows of q
 * and k in HF order. Knows how llama's GGUF converter reorders rows; nothing of files.
 */

import { type LoraTarget, loraTargets } from '../config.ts';
import { LabError } from '../errors.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';
import type { RopeStyle } from './ops/index.ts';

/** What decides the order of rows. */
export interface RowOrder {
  readonly headDim: number;
  readonly ropeStyle: RopeStyle;
}

/** One parameter: row-major, `rows` x `cols`. */
export interface HfParameter {
  readonly rows: number;
  readonly cols: number;
  readonly values: Float32Array;
}

/** One adapted projection in HF layout. */
export interface HfModule {
  readonly layer: number;
  readonly target: LoraTarget;
  /** E.g. `model.layers.0.self_attn.q_proj`. */
  readonly name: string;
  readonly scale: number;
  readonly a: HfParameter; // [r, in]
  readonly b: HfParameter; // [out, r]
}

/** The module's name in a transformers llama. */
export function hfModuleName(layer: number, target: LoraTarget): string {
  const block = target.endsWith('_proj') && 'qkvo'.includes(target.charAt(0)) ? 'self_attn' : 'mlp';
  return `model.layers.${layer}.${block}.${target}`;
}

/** The inverse of {@link hfModuleName}; null for a name of another kind. */
export function parseHfModuleName(name: string): { layer: number; target: LoraTarget } | null {
  const match = /^model\.layers\.(\d+)\.(?:self_attn|mlp)\.(\w+)$/.exec(name);
  const target = loraTargets.find((known) => known === match?.[2]);
  if (match === null || target === undefined) return null;
  const layer = Number(match[1]);
  return hfModuleName(layer, target) === name ? { layer, target } : null;
}

export function toHf(adapter: AdapterData, order: RowOrder): HfModule[] {
  return adapter.modules.map(({ layer, target, inputs, outputs, rank, scale, aT, bT }) => ({
    layer,
    target,
    name: hfModuleName(layer, target),
    scale,
    a: { rows: rank, cols: inputs, values: transpose(aT, inputs, rank) },
    b: {
      rows: outputs,
      cols: rank,
      values: permuteRows(transpose(bT, rank, outputs), rank, hfRowsOf(target, outputs, order)),
    },
  }));
}

export function fromHf(modules: readonly HfModule[], order: RowOrder): AdapterData {
  return { modules: modules.map((module) => fromHfModule(module, order)) };
}

function fromHfModule({ layer, target, scale, a, b }: HfModule, order: RowOrder): LoraModuleData {
  const rank = a.rows;
  if (b.cols !== rank) {
    throw new LabError(
      'bad_input',
      `${hfModuleName(layer, target)}: lora_A has rank ${rank} and lora_B ${b.cols}; expected one rank.`,
    );
  }
  const rows = hfRowsOf(target, b.rows, order);
  const ggufB = new Float32Array(b.values.length);
  rows.forEach((hfRow, hf) => {
    ggufB.set(b.values.subarray(hf * rank, (hf + 1) * rank), hfRow * rank);
  });
  return {
    layer,
    target,
    inputs: a.cols,
    outputs: b.rows,
    rank,
    scale,
    aT: transpose(a.values, rank, a.cols),
    bT: transpose(ggufB, b.rows, rank),
  };
}

/**
 * For each HF row, the GGUF row that holds it. llama's converter makes rotated pairs adjacent:
 * within a head, HF row j · hd/2 + i (j = 0, 1) is GGUF row 2 i + j. Example, hd = 4: [0, 2, 1, 3].
 */
function hfRowsOf(target: LoraTarget, outputs: number, order: RowOrder): Int32Array {
  const rows = Int32Array.from({ length: outputs }, (_, row) => row);
  const turned = target === 'q_proj' || target === 'k_proj';
  if (!turned || order.ropeStyle === 'halves') return rows;
  const { headDim } = order;
  const half = headDim / 2;
  return rows.map((row) => {
    const within = row % headDim;
    return row - within + 2 * (within % half) + Math.floor(within / half);
  });
}

/** out[row] = values[from[row]], rows of `cols` values. */
function permuteRows(values: Float32Array, cols: number, from: Int32Array): Float32Array {
  const out = new Float32Array(values.length);
  from.forEach((source, row) => {
    out.set(values.subarray(source * cols, (source + 1) * cols), row * cols);
  });
  return out;
}

/** [rows, cols] row-major -> [cols, rows] row-major. */
export function transpose(values: Float32Array, rows: number, cols: number): Float32Array {
  const out = new Float32Array(values.length);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) out[c * rows + r] = values[r * cols + c] ?? 0;
  }
  return out;
}
