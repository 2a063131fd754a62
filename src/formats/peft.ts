/** PEFT's LoRA folder: adapter_config.json and adapter_model.safetensors. Knows names, no model. */

import { strFromU8, strToU8 } from 'fflate';
import { LabError } from '../errors.ts';
import { CONFIG_FILE, readAdapterConfig } from './adapter-config.ts';
import { type AdapterDtype, checkFinite } from './adapter-dtype.ts';
import { type AdapterLabel, labelOfCard, modelCard } from './adapter-label.ts';
import { readSafetensors, writeSafetensors } from './safetensors.ts';
import { unzipChosen } from './unzip.ts';
import { writeZip } from './zip.ts';

/** A matrix, row-major. */
export interface LoraMatrix {
  readonly rows: number;
  readonly cols: number;
  readonly values: Float32Array;
}

/** One adapted projection: W + scale · B A. */
export interface PeftModule {
  /** As transformers names it, e.g. `model.layers.0.self_attn.q_proj`. */
  readonly name: string;
  /** alpha / r, or alpha / √r in a rank-stabilised adapter. */
  readonly scale: number;
  readonly a: LoraMatrix; // [r, in]
  readonly b: LoraMatrix; // [out, r]
}

/** What the model card and the config say of the base. */
export interface BaseModel {
  /** `base_model_name_or_path`: llama.cpp's converter wants one. */
  readonly name: string;
  /** The base's licence identifier; null when the file names none. */
  readonly licence: string | null;
  /** What a person calls the adapter itself. */
  readonly label?: AdapterLabel;
}

export const CARD_FILE = 'README.md';
export const WEIGHTS_FILE = 'adapter_model.safetensors';
/** What {@link writePeft} writes. */
export const peftFiles = [CONFIG_FILE, WEIGHTS_FILE, CARD_FILE] as const;
const PREFIX = 'base_model.model.';

/** A config of PEFT takes a few kB, also with hundreds of names in its patterns. */
const MAX_CONFIG_BYTES = 2 ** 20;
/** A card is a page of text. */
const MAX_CARD_BYTES = 2 ** 20;
/** Larger than any LoRA of a model that fits a browser. */
const MAX_WEIGHT_BYTES = 2 ** 30;
/** A folder of PEFT has three files; a training run's checkpoint about twenty. */
const MAX_FILES = 200;

/** The folder's files. Throws `bad_input` for an adapter without modules, or with values `dtype` cannot hold. */
export function writePeft(
  modules: readonly PeftModule[],
  base: BaseModel,
  dtype: AdapterDtype = 'F32',
): Readonly<Record<(typeof peftFiles)[number], Uint8Array>> {
  const [first] = modules;
  if (!first)
    throw new LabError('bad_input', 'The adapter has no modules; there is nothing to export.');
  const differing = <T>(value: (module: PeftModule) => T) =>
    Object.fromEntries(
      modules.filter((m) => value(m) !== value(first)).map((m) => [m.name, value(m)]),
    );
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base.name,
    inference_mode: true,
    r: first.a.rows,
    lora_alpha: alphaOf(first),
    rank_pattern: differing((m) => m.a.rows),
    alpha_pattern: differing(alphaOf),
    target_modules: targetsOf(modules),
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    init_lora_weights: true,
    modules_to_save: null,
    use_dora: false,
    use_rslora: false,
  };
  const tensors = new Map(
    modules.flatMap(({ name, a, b }) => [
      [`${PREFIX}${name}.lora_A.weight`, { shape: [a.rows, a.cols], values: a.values }] as const,
      [`${PREFIX}${name}.lora_B.weight`, { shape: [b.rows, b.cols], values: b.values }] as const,
    ]),
  );
  return {
    [CONFIG_FILE]: strToU8(`${JSON.stringify(config, null, 2)}\n`),
    [WEIGHTS_FILE]: writeSafetensors(tensors, { format: 'pt' }, dtype),
    [CARD_FILE]: strToU8(
      modelCard(base.label ?? null, {
        ...{ base: base.name, licence: base.licence, rank: config.r, alpha: config.lora_alpha },
        targets: config.target_modules,
      }),
    ),
  };
}

/** The alpha that gives the scale back: whole numbers stay whole. */
function alphaOf({ scale, a }: PeftModule): number {
  const whole = Math.round(scale * a.rows);
  return whole / a.rows === scale ? whole : scale * a.rows;
}

/**
 * The names' last parts where every layer from the first to the last has all of them; else the whole
 * names, so that PEFT makes no adapter where there is none.
 */
function targetsOf(modules: readonly PeftModule[]): string[] {
  const lastParts = new Set(modules.map(({ name }) => name.split('.').pop() ?? name));
  const layers = new Set(modules.map(({ name }) => Number(/\.(\d+)\./.exec(name)?.[1])));
  const full =
    layers.size === Math.max(...layers) + 1 && modules.length === layers.size * lastParts.size;
  return full ? [...lastParts].sort() : modules.map(({ name }) => name);
}

/** The folder as a zip; tensors are stored, since floats do not compress. */
export function zipPeft(
  modules: readonly PeftModule[],
  base: BaseModel,
  dtype: AdapterDtype = 'F32',
): Uint8Array {
  const files = Object.entries(writePeft(modules, base, dtype));
  return writeZip(files.map(([path, bytes]) => ({ path, bytes, stored: true })));
}

/**
 * Reads a zip of {@link zipPeft} or of a PEFT folder, its files at the top or in one folder. Throws
 * what {@link readPeft} throws, and `limit` for a zip that holds more than an adapter can.
 */
export async function unzipPeft(bytes: Uint8Array): Promise<PeftModule[]> {
  const sizeOf = (name: string) => {
    if (isFile(name, CONFIG_FILE)) return MAX_CONFIG_BYTES;
    return isFile(name, WEIGHTS_FILE) ? MAX_WEIGHT_BYTES : null;
  };
  const { files, names } = unzipChosen(bytes, sizeOf, {
    files: MAX_FILES,
    bytes: MAX_CONFIG_BYTES + MAX_WEIGHT_BYTES,
  });
  const find = (file: string) => [...files].filter(([path]) => isFile(path, file));
  const [configs, weights] = [find(CONFIG_FILE), find(WEIGHTS_FILE)];
  const [config] = configs;
  const [matrices] = weights;
  if (config && matrices && configs.length === 1 && weights.length === 1) {
    return readPeft(strFromU8(config[1]), matrices[1]);
  }
  throw noFolder('The zip', names);
}

/** The error of a zip or folder that lacks one of an adapter's two files. */
export function noFolder(where: string, names: readonly string[]): LabError {
  return new LabError(
    'bad_input',
    `${where} holds ${firstThree(names) || 'nothing'}; expected one ${CONFIG_FILE} and one ${WEIGHTS_FILE}.${wayOut(names)}`,
  );
}

/** What to do where there are PEFT's other forms of weights in place of one safetensors file. */
export function wayOut(names: readonly string[]): string {
  const has = (pattern: RegExp) => names.some((name) => pattern.test(name));
  if (has(/\.(bin|pt|pth|pkl)$/)) {
    return ' Pickles (.bin, .pt) are not opened, since they can run any code: load it in PEFT where you trust it; save_pretrained(folder) writes safetensors.';
  }
  if (has(/-\d+-of-\d+\.safetensors$|\.index\.json$/)) {
    return ' Weights in several parts are not opened: load it in PEFT; save_pretrained(folder) writes one file.';
  }
  return '';
}

/** The label in the card of such a zip; null where there is none. Throws as {@link unzipPeft} does. */
export function labelOfZip(bytes: Uint8Array): AdapterLabel | null {
  const wanted = (name: string) => (isFile(name, CARD_FILE) ? MAX_CARD_BYTES : null);
  const limits = { files: MAX_FILES, bytes: MAX_CARD_BYTES };
  const [card] = unzipChosen(bytes, wanted, limits).files.values();
  return card ? labelOfCard(strFromU8(card)) : null;
}

/** Some programs on Windows part folders by backslashes. */
function isFile(path: string, file: string): boolean {
  return path.split(/[/\\]/).at(-1) === file;
}

/**
 * The modules of an adapter. Refuses, by name, what it could only apply in part: what
 * {@link readAdapterConfig} refuses, full tensors, unpaired matrices, names that are no projection or
 * that the config does not adapt, and values that are not finite.
 */
export async function readPeft(configText: string, weights: Uint8Array): Promise<PeftModule[]> {
  const config = await readAdapterConfig(configText);
  const pairs = pairUp(weights);
  const untargeted = [...pairs.keys()].filter((name) => !config.targets(name));
  if (untargeted.length > 0) {
    throw new LabError(
      'bad_input',
      `${untargeted.length} modules of ${WEIGHTS_FILE} are none that target_modules names: ${firstThree(untargeted)}. PEFT would leave them out; nothing was loaded.`,
      { untargeted: untargeted.length },
    );
  }
  return [...pairs].map(([name, { a, b }]) => {
    if (!a || !b || a.rows !== b.cols) {
      const found = `lora_A ${a ? `[${a.rows}, ${a.cols}]` : 'missing'}, lora_B ${b ? `[${b.rows}, ${b.cols}]` : 'missing'}`;
      throw new LabError(
        'bad_input',
        `${name}: ${found}; expected lora_A [r, in] and lora_B [out, r] of one rank.`,
        { module: name },
      );
    }
    const rank = config.rankOf(name);
    if (a.rows !== rank) {
      throw new LabError(
        'bad_input',
        `${name} has rank ${a.rows}, but ${CONFIG_FILE} says ${rank}.`,
        { module: name },
      );
    }
    return { name, a, b, scale: config.scaleOf(name) };
  });
}

interface Pair {
  readonly a?: LoraMatrix;
  readonly b?: LoraMatrix;
}

/** The matrices by module, e.g. `model.layers.0.self_attn.q_proj`. */
function pairUp(weights: Uint8Array): Map<string, Pair> {
  const pairs = new Map<string, Pair>();
  const strangers: string[] = [];
  for (const [tensor, { shape, values }] of readSafetensors(weights, WEIGHTS_FILE).tensors) {
    const match =
      /^base_model\.model\.(model\.layers\.\d+\.(?:self_attn|mlp)\.\w+_proj)\.lora_([AB])(?:\.default)?\.weight$/.exec(
        tensor,
      );
    const [name, side] = [match?.[1], match?.[2]];
    const [rows, cols] = shape;
    if (name === undefined || rows === undefined || cols === undefined || shape.length !== 2) {
      strangers.push(tensor);
      continue;
    }
    checkFinite(values, tensor);
    const pair = pairs.get(name) ?? {};
    const key = side === 'A' ? 'a' : 'b';
    if (pair[key] !== undefined) {
      throw new LabError(
        'bad_input',
        `${name}.lora_${side} occurs twice, with and without ".default".`,
      );
    }
    pairs.set(name, { ...pair, [key]: { rows, cols, values } });
  }
  if (strangers.length > 0) throw strangeTensors(strangers);
  if (pairs.size > 0) return pairs;
  throw new LabError('bad_input', `${WEIGHTS_FILE} holds no tensors; expected lora_A and lora_B.`);
}

function strangeTensors(keys: readonly string[]): LabError {
  const full = keys.some((key) => /lm_head|embed_tokens|modules_to_save|magnitude/.test(key));
  return new LabError(
    'unsupported',
    `${keys.length} tensors of ${WEIGHTS_FILE} are no LoRA matrices of a projection in a layer: ${firstThree(keys)}. ${
      full ? 'Full tensors (modules_to_save) are not applied here. ' : ''
    }Nothing was loaded.`,
    { unmatched: keys.length },
  );
}

export function firstThree(names: readonly string[]): string {
  return `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`;
}
