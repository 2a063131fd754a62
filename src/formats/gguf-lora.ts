/**
 * llama.cpp's LoRA file: a GGUF with `<tensor>.lora_a` and `.lora_b` beside one alpha for all. Rows
 * are in GGUF order. Knows names and scales, no model. Layout as llama.cpp's llama-adapter.cpp reads it.
 */

import { LabError } from '../errors.ts';
import type { Json } from '../records.ts';
import { type AdapterDtype, checkFinite, encodeAdapter } from './adapter-dtype.ts';
import { type AdapterLabel, labelMetadata } from './adapter-label.ts';
import { type FoldedB, foldB, hasUlps, unfoldB } from './folded-b.ts';
import { type GgufFile, type GgufTensor, readGguf } from './gguf.ts';
import { type GgufTensorData, type GgufValue, writeGguf } from './gguf-writer.ts';
import { firstThree, type LoraMatrix } from './peft.ts';
import { dequantize } from './quants.ts';
import type { ByteSource } from './source.ts';

/** One adapted tensor of the base: W + scale · B A. */
export interface GgufLoraModule {
  /** E.g. `blk.0.attn_q.weight`. */
  readonly tensor: string;
  readonly scale: number;
  readonly a: LoraMatrix; // [r, in]
  readonly b: LoraMatrix; // [out, r], rows in GGUF order
}

/** What the file says of the model that it is for. */
export interface GgufLoraBase {
  /** `general.architecture`; llama.cpp refuses an adapter of another one than the model's. */
  readonly architecture: string;
  readonly name: string;
  /** What a person calls the adapter itself. */
  readonly label?: AdapterLabel;
}

export interface GgufLora {
  readonly architecture: string;
  readonly modules: readonly GgufLoraModule[];
}

/** Larger than any LoRA of a model that fits a browser. */
const MAX_ADAPTER_BYTES = 2 ** 30;
/** llama.cpp's `LLAMA_FTYPE` of a file whose tensors are mostly of that type. */
const FILE_TYPES = { F32: 0, F16: 1, BF16: 32 } as const satisfies Record<AdapterDtype, number>;
/**
 * What was folded into B, one factor a module in the file's order, and the rounding of those that are no
 * powers of two, module by module. Only this program reads them: with them the modules get their own alphas
 * and bits back; without them the product is the same.
 */
const FACTORS = 'attt.lora.b_factors';
const ULPS = 'attt.lora.b_ulps';
/**
 * The modules' own scales, where alpha as float32 gives others: those of rank-stabilised adapters, alpha / √r,
 * and those of 0. Only this program reads them too.
 */
const SCALES = 'attt.lora.scales';
/**
 * Stands for an alpha of 0, which would mean "no scaling" to llama.cpp: its module adds 5e-20 of its change there,
 * which no float32 sum takes notice of, and its B is kept.
 */
const SILENT = 2 ** -64;
/** The longest array that gguf.ts reads: beyond it B stays folded. */
const MAX_ULPS = 4 * 2 ** 20;

/**
 * The file's bytes. llama.cpp computes scale = alpha / rank with one alpha for the file, so a module
 * of another alpha gets the quotient folded into its B. Example: scale 2 at rank 8 beside scale 2 at
 * rank 2 are alphas 16 and 4; the file says 16, and the second B is multiplied by 1/4. Throws `bad_input`
 * for an adapter without modules, and for a module of scale 0 beside others in F16.
 */
export function writeGgufLora(
  modules: readonly GgufLoraModule[],
  base: GgufLoraBase,
  dtype: AdapterDtype = 'F32',
): Uint8Array {
  if (modules.length === 0) {
    throw new LabError('bad_input', 'The adapter has no modules; there is nothing to export.');
  }
  const alphas = modules.map(({ scale, a }) => Math.fround(scale * a.rows));
  const alpha = mostFrequent(alphas) ?? SILENT;
  const silent = SILENT / 2 ** Math.ceil(Math.log2(Math.abs(alpha)));
  const factorOf = (i: number) => (alphas[i] ? alphas[i] / alpha : silent);
  if (dtype === 'F16' && silent !== 1) checkHeard(modules.filter((_, i) => alphas[i] === 0));
  const folded = foldAll(modules, factorOf, dtype);
  const metadata: Record<string, GgufValue> = {
    'general.type': { type: 'string', value: 'adapter' },
    'general.architecture': { type: 'string', value: base.architecture },
    ...(base.label && labelMetadata(base.label)),
    'general.base_model.count': { type: 'uint32', value: 1 },
    'general.base_model.0.name': { type: 'string', value: base.name },
    'general.file_type': { type: 'uint32', value: FILE_TYPES[dtype] },
    'adapter.type': { type: 'string', value: 'lora' },
    'adapter.lora.alpha': { type: 'float32', value: alpha },
  };
  if (folded.some(({ factor }) => factor !== 1)) {
    metadata[FACTORS] = { type: 'float64s', value: folded.map(({ factor }) => factor) };
  }
  const scales = modules.map(({ scale, a }, i) => {
    const { factor = 1 } = folded[i] ?? {};
    const found = scaleOf(alpha, factor, a.rows);
    // Where B stays folded, its module has the file's alpha from now on.
    return { found, own: factor === factorOf(i) ? scale : found };
  });
  if (scales.some(({ own, found }) => own !== found)) {
    metadata[SCALES] = { type: 'float64s', value: scales.map(({ own }) => own) };
  }
  if (folded.some(({ ulps }) => ulps.length > 0)) {
    metadata[ULPS] = { type: 'int8s', value: folded.flatMap(({ ulps }) => [...ulps]) };
  }
  const tensors = modules.flatMap(({ tensor, a, b }, i) => [
    encoded(`${tensor}.lora_a`, [a.cols, a.rows], a.values, dtype),
    encoded(`${tensor}.lora_b`, [b.cols, b.rows], folded[i]?.values ?? b.values, dtype),
  ]);
  return writeGguf(metadata, tensors);
}

/** What a reader computes with a B that is taken back by its factor. */
function scaleOf(alpha: number, factor: number, rank: number): number {
  return Math.fround(alpha * factor) / rank;
}

/** Few modules are folded then. Never 0; null where all are. */
function mostFrequent(alphas: readonly number[]): number | null {
  const counts = new Map<number, number>();
  for (const alpha of alphas) if (alpha !== 0) counts.set(alpha, (counts.get(alpha) ?? 0) + 1);
  return [...counts].sort((x, y) => y[1] - x[1])[0]?.[0] ?? null;
}

/** float16 ends at 6e-8: a B that is to be silent would be lost in it. */
function checkHeard([silent]: readonly GgufLoraModule[]): void {
  if (!silent) return;
  throw new LabError(
    'bad_input',
    `${silent.tensor} has scale 0, and float16 cannot hold its B beside those of other scales. Save the adapter as F32 or BF16, or prune it first.`,
    { module: silent.tensor },
  );
}

/** Each B at its factor. In a format that rounds them anyway, only powers of two are taken back. */
function foldAll(
  modules: readonly GgufLoraModule[],
  factorOf: (index: number) => number,
  dtype: AdapterDtype,
): FoldedB[] {
  const folded = modules.map(({ b }, i) => foldB(b.values, factorOf(i)));
  const units = folded.reduce((sum, { ulps }) => sum + ulps.length, 0);
  if (dtype === 'F32' && units <= MAX_ULPS) return folded;
  const ulps = new Int8Array(0);
  return folded.map((one) => (one.ulps.length > 0 ? { ...one, factor: 1, ulps } : one));
}

function encoded(
  name: string,
  shape: readonly number[],
  values: Float32Array,
  dtype: AdapterDtype,
): GgufTensorData {
  return { name, type: dtype, shape, data: encodeAdapter(dtype, values, name) };
}

/**
 * Reads a LoRA. Refuses by name what it could only apply in part: other kinds of GGUF and adapter,
 * activated LoRA, tensors that are no LoRA matrices, unpaired ones and values that are not finite.
 */
export async function readGgufLora(source: ByteSource): Promise<GgufLora> {
  if (source.size > MAX_ADAPTER_BYTES) {
    throw new LabError(
      'limit',
      `${source.name} has ${source.size} bytes; an adapter may have ${MAX_ADAPTER_BYTES}.`,
    );
  }
  const gguf = await readGguf(source);
  const architecture = checkKind(gguf, source.name);
  checkFilled(gguf, source);
  const alpha = gguf.metadata['adapter.lora.alpha'];
  if (typeof alpha !== 'number') {
    throw bad(
      source,
      `adapter.lora.alpha is ${JSON.stringify(alpha ?? null)}; expected a number, without which the strength of the adapter is unknown. Convert the adapter again.`,
    );
  }
  const pairs = pairUp(gguf, source);
  const factors = factorsOf(gguf, pairs, source);
  const scales = scalesOf(gguf, pairs, source);
  const modules: GgufLoraModule[] = [];
  for (const [i, { tensor, a, b }] of pairs.entries()) {
    const { factor, ulps } = factors[i] ?? { factor: 1, ulps: [] };
    // An alpha of 0 is llama.cpp's "as it stands".
    const found = alpha === 0 ? factor : scaleOf(alpha, factor, a.rows);
    const scale = scales[i] ?? found;
    if (!sameScale(scale, found)) {
      throw bad(
        source,
        `${SCALES} gives ${tensor} the scale ${scale}, and alpha ${found}. The file was changed: convert the adapter again.`,
      );
    }
    const values = unfoldB(await valuesOf(b, source), factor, ulps);
    checkFinite(Float32Array.of(scale), `The scale of ${tensor}`);
    checkFinite(values, b.name);
    modules.push({
      tensor,
      scale,
      a: { rows: a.rows, cols: a.cols, values: await valuesOf(a, source) },
      b: { rows: b.rows, cols: b.cols, values },
    });
  }
  return { architecture, modules };
}

/**
 * Tensors follow each other with padding alone between them, up to the file's end, as llama.cpp wants
 * them: a header that names fewer tensors, or other places, would give numbers that mean nothing.
 */
function checkFilled({ tensors, alignment, dataOffset }: GgufFile, source: ByteSource): void {
  const padded = (bytes: number) => Math.ceil(bytes / alignment) * alignment;
  let end = 0; // from the beginning of the data
  for (const { name, offset, bytes } of [...tensors].sort((x, y) => x.offset - y.offset)) {
    const found = offset - dataOffset;
    if (found !== padded(end)) {
      throw bad(
        source,
        `the data of ${name} begin at byte ${found} of the tensors' data; expected ${padded(end)}, where the tensor before ends. The file is damaged: convert the adapter again.`,
      );
    }
    end = found + bytes;
  }
  const rest = source.size - dataOffset - padded(end);
  if (rest > 0) {
    throw bad(
      source,
      `${rest} bytes come after the last of its ${tensors.length} tensors; expected none. The file is damaged: convert the adapter again.`,
    );
  }
}

/** The architecture of the base. */
function checkKind({ metadata }: GgufFile, name: string): string {
  const refuse = (key: string, expected: string) => {
    throw new LabError(
      'unsupported',
      `${name} has ${key} ${JSON.stringify(metadata[key] ?? null)}; expected ${expected}. Open a LoRA that was saved as GGUF.`,
      { key },
    );
  };
  if (metadata['general.type'] !== 'adapter') refuse('general.type', '"adapter"');
  if (metadata['adapter.type'] !== 'lora') refuse('adapter.type', '"lora"');
  const activated = 'adapter.alora.invocation_tokens';
  if (metadata[activated] !== undefined) refuse(activated, 'none: activated LoRA is not run here');
  const architecture = metadata['general.architecture'];
  if (typeof architecture !== 'string') refuse('general.architecture', 'a name such as "llama"');
  return String(architecture);
}

interface Pair {
  readonly tensor: string;
  readonly a: GgufTensor;
  readonly b: GgufTensor;
}

function pairUp({ tensors }: GgufFile, source: ByteSource): Pair[] {
  const sides = new Map<string, { a?: GgufTensor; b?: GgufTensor }>();
  const strangers: string[] = [];
  for (const tensor of tensors) {
    const match = /^(.+)\.lora_([ab])$/.exec(tensor.name);
    const [, name, side] = match ?? [];
    if (name === undefined || tensor.shape.length !== 2) strangers.push(tensor.name);
    else sides.set(name, { ...sides.get(name), [side === 'a' ? 'a' : 'b']: tensor });
  }
  if (strangers.length > 0) {
    throw new LabError(
      'unsupported',
      `${strangers.length} tensors of ${source.name} are no LoRA matrices: ${firstThree(strangers)}. Nothing was loaded.`,
      { unmatched: strangers.length },
    );
  }
  if (sides.size === 0)
    throw bad(source, 'it holds no tensors; expected <tensor>.lora_a and .lora_b.');
  return [...sides].map(([tensor, { a, b }]) => {
    if (a !== undefined && b !== undefined && a.rows === b.cols) return { tensor, a, b };
    const shown = (side: GgufTensor | undefined) =>
      side ? `[${side.shape.join(', ')}]` : 'missing';
    throw bad(
      source,
      `${tensor}: lora_a ${shown(a)}, lora_b ${shown(b)}; expected [in, r] and [r, out] of one rank.`,
    );
  });
}

/** What was folded into each module's B. Throws `bad_input` for lists of another length than the file's. */
function factorsOf(
  { metadata }: GgufFile,
  pairs: readonly Pair[],
  source: ByteSource,
): readonly Omit<FoldedB, 'values'>[] {
  const { [FACTORS]: factors, [ULPS]: units = [] } = metadata;
  if (factors === undefined) return [];
  const list = numbers(factors).filter((factor) => factor !== 0);
  const ulps = Int8Array.from(numbers(units));
  let at = 0;
  const found = list.map((factor, i) => {
    const { rows, cols } = pairs[i]?.b ?? { rows: 0, cols: 0 };
    const from = at;
    at += hasUlps(factor) ? rows * cols : 0;
    return { factor, ulps: ulps.subarray(from, at) };
  });
  if (list.length === pairs.length && at === ulps.length) return found;
  throw bad(
    source,
    `${FACTORS} and ${ULPS} hold ${list.length} factors and ${ulps.length} units; expected ${pairs.length} and ${at}, as the modules have them. Convert the adapter again.`,
  );
}

/** The modules' own scales; none where the file names none. Throws `bad_input` for a list of another length. */
function scalesOf(
  { metadata }: GgufFile,
  pairs: readonly Pair[],
  source: ByteSource,
): readonly number[] {
  const { [SCALES]: scales } = metadata;
  if (scales === undefined) return [];
  const list = numbers(scales);
  if (list.length === pairs.length) return list;
  throw bad(
    source,
    `${SCALES} holds ${list.length} numbers; expected ${pairs.length}, one a module. Convert the adapter again.`,
  );
}

/** As alpha rounds to float32, or both as good as 0. */
function sameScale(own: number, found: number): boolean {
  const size = Math.abs(found);
  return own === found || Math.abs(own - found) <= 1e-6 * size || Math.abs(own) + size < 1e-15;
}

function numbers(value: Json): number[] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((item) => (typeof item === 'number' ? [item] : []));
}

async function valuesOf(tensor: GgufTensor, source: ByteSource): Promise<Float32Array> {
  const values = new Float32Array(tensor.rows * tensor.cols);
  dequantize(tensor.type, await source.read(tensor.offset, tensor.bytes), values);
  checkFinite(values, tensor.name);
  return values;
}

function bad(source: ByteSource, what: string): LabError {
  return new LabError('bad_input', `${source.name}: ${what}`, { file: source.name });
}
