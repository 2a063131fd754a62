/** PEFT's LoRA folder: adapter_config.json and adapter_model.safetensors. Knows names and scales, no model. */

import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { LabError } from '../errors.ts';
import { readSafetensors, writeSafetensors } from './safetensors.ts';

/** A matrix, row-major. */
export interface PeftMatrix {
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
  readonly a: PeftMatrix; // [r, in]
  readonly b: PeftMatrix; // [out, r]
}

/** What the model card and the config say of the base. */
export interface BaseModel {
  /** `base_model_name_or_path`: llama.cpp's converter wants one. */
  readonly name: string;
  /** The base's licence identifier; null when the file names none. */
  readonly licence: string | null;
}

const CONFIG = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';
const PREFIX = 'base_model.model.';

/** The folder's files. Throws `bad_input` for an adapter without modules. */
export function writePeft(
  modules: readonly PeftModule[],
  base: BaseModel,
): Readonly<Record<string, Uint8Array>> {
  const [first] = modules;
  if (!first)
    throw new LabError('bad_input', 'The adapter has no modules; there is nothing to export.');
  const alphaOf = ({ scale, a }: PeftModule) => scale * a.rows;
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
    target_modules: [...new Set(modules.map(({ name }) => name.split('.').pop() ?? name))].sort(),
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
    [CONFIG]: strToU8(`${JSON.stringify(config, null, 2)}\n`),
    [WEIGHTS]: writeSafetensors(tensors),
    'README.md': strToU8(modelCard(base, config.r, config.lora_alpha, config.target_modules)),
  };
}

/** The folder as a zip; tensors are stored, since floats do not compress. */
export function zipPeft(modules: readonly PeftModule[], base: BaseModel): Uint8Array {
  return zipSync({ ...writePeft(modules, base) }, { level: 0 });
}

/**
 * Reads a zip of {@link zipPeft} or of a PEFT folder, its files at the top or in one folder. Throws
 * what {@link readPeft} throws.
 */
export function unzipPeft(bytes: Uint8Array): PeftModule[] {
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(bytes);
  } catch (thrown) {
    throw new LabError(
      'bad_input',
      `This is not a readable zip (${thrown instanceof Error ? thrown.message : thrown}). Open a zip of a PEFT adapter folder.`,
    );
  }
  const find = (name: string) =>
    Object.entries(files).find(([path]) => path === name || path.endsWith(`/${name}`))?.[1];
  const config = find(CONFIG);
  const weights = find(WEIGHTS);
  if (config && weights) return readPeft(strFromU8(config), weights);
  throw new LabError(
    'bad_input',
    `The zip holds ${Object.keys(files).join(', ') || 'nothing'}; expected ${CONFIG} and ${WEIGHTS}.`,
  );
}

/**
 * The modules of an adapter. Refuses, by name, what it could only apply in part: other PEFT types,
 * DoRA, bias, modules_to_save, full tensors, unpaired matrices, names that are no projection.
 */
export function readPeft(configText: string, weights: Uint8Array): PeftModule[] {
  const config = readConfig(configText);
  const { tensors } = readSafetensors(weights, WEIGHTS);
  const pairs = new Map<string, { a?: PeftMatrix; b?: PeftMatrix }>();
  const strangers: string[] = [];
  for (const [tensor, { shape, values }] of tensors) {
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
  return [...pairs].map(([name, { a, b }]) => {
    if (!a || !b || a.rows !== b.cols) {
      const found = `lora_A ${a ? `[${a.rows}, ${a.cols}]` : 'missing'}, lora_B ${b ? `[${b.rows}, ${b.cols}]` : 'missing'}`;
      throw new LabError(
        'bad_input',
        `${name}: ${found}; expected lora_A [r, in] and lora_B [out, r] of one rank.`,
        { module: name },
      );
    }
    return { name, a, b, scale: scaleOf(config, name, a.rows) };
  });
}

interface Config {
  readonly rank: number;
  readonly alpha: number;
  readonly rankPattern: Readonly<Record<string, number>>;
  readonly alphaPattern: Readonly<Record<string, number>>;
  readonly stabilised: boolean;
}

function readConfig(text: string): Config {
  const config = parseConfig(text);
  const refuse = (what: string) => {
    throw new LabError(
      'unsupported',
      `${CONFIG} asks for ${what}, which would only be applied in part here. Supported are plain and rank-stabilised LoRA on linear projections.`,
    );
  };
  if (config.peft_type !== 'LORA') refuse(`peft_type ${JSON.stringify(config.peft_type)}`);
  if (config.use_dora === true) refuse('use_dora (lora_magnitude_vector)');
  if (config.bias !== undefined && config.bias !== 'none')
    refuse(`bias ${JSON.stringify(config.bias)}`);
  if (Array.isArray(config.modules_to_save) && config.modules_to_save.length > 0) {
    refuse(`modules_to_save ${config.modules_to_save.join(', ')}`);
  }
  for (const flag of UNSUPPORTED_FLAGS) {
    const value = config[flag] ?? false;
    if (value !== false && !(Array.isArray(value) && value.length === 0)) {
      refuse(`${flag} ${JSON.stringify(value)}`);
    }
  }
  const { r, lora_alpha: alpha } = config;
  if (typeof r !== 'number' || typeof alpha !== 'number' || !(r >= 1)) {
    throw new LabError(
      'bad_input',
      `${CONFIG} has r ${r} and lora_alpha ${alpha}; expected two numbers.`,
    );
  }
  return {
    rank: r,
    alpha,
    rankPattern: numbersOf(config.rank_pattern),
    alphaPattern: numbersOf(config.alpha_pattern),
    stabilised: config.use_rslora === true,
  };
}

/** Settings under which PEFT computes something other than W + scale · B A. */
const UNSUPPORTED_FLAGS = [
  'lora_bias',
  'layer_replication',
  'alora_invocation_tokens',
  'trainable_token_indices',
  'target_parameters',
  'arrow_config',
  'use_qalora',
  'use_bdlora',
] as const;

function parseConfig(text: string): Readonly<Record<string, unknown>> {
  let config: unknown;
  try {
    config = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (thrown) {
    throw new LabError(
      'bad_input',
      `${CONFIG} is not JSON: ${thrown instanceof Error ? thrown.message : thrown}`,
    );
  }
  if (typeof config === 'object' && config !== null) return { ...config };
  throw new LabError('bad_input', `${CONFIG} holds ${JSON.stringify(config)}; expected an object.`);
}

/**
 * PEFT matches a pattern's key as a regular expression at the end of the name, behind a dot or
 * alone; the first that matches counts. A key from a file is not run as one here (a crafted one can
 * take for ever): it is a name, in which a dot may stand for any character and `.*` for any text.
 */
function patternFor(name: string, pattern: Readonly<Record<string, number>>): number | undefined {
  return Object.entries(pattern).find(([key]) => {
    if (!/^(?:\w|\.\*|\\?\.)+$/.test(key)) {
      throw new LabError(
        'unsupported',
        `${CONFIG} has the pattern ${JSON.stringify(key)}; supported are names of modules, such as "layers.0.self_attn.q_proj", with ".*" for any text.`,
      );
    }
    return new RegExp(`(?:^|\\.)(?:${key})$`).test(name);
  })?.[1];
}

function scaleOf(config: Config, name: string, rank: number): number {
  const expected = patternFor(name, config.rankPattern) ?? config.rank;
  if (expected !== rank) {
    throw new LabError('bad_input', `${name} has rank ${rank}, but ${CONFIG} says ${expected}.`);
  }
  const alpha = patternFor(name, config.alphaPattern) ?? config.alpha;
  return alpha / (config.stabilised ? Math.sqrt(rank) : rank);
}

function numbersOf(value: unknown): Readonly<Record<string, number>> {
  const entries = Object.entries(value ?? {}).filter(([, v]) => typeof v === 'number');
  return Object.fromEntries(entries);
}

function strangeTensors(keys: readonly string[]): LabError {
  const full = keys.some((key) => /lm_head|embed_tokens|modules_to_save|magnitude/.test(key));
  return new LabError(
    'unsupported',
    `${keys.length} tensors of ${WEIGHTS} are no LoRA matrices: ${keys.slice(0, 3).join(', ')}${keys.length > 3 ? ', …' : ''}. ${
      full ? 'Full tensors (modules_to_save) are not applied here. ' : ''
    }Nothing was loaded.`,
    { unmatched: keys.length },
  );
}

function modelCard(
  base: BaseModel,
  rank: number,
  alpha: number,
  targets: readonly string[],
): string {
  return `---
base_model: ${base.name}
library_name: peft
${base.licence ? `license: ${base.licence}\n` : ''}tags:
- lora
- test-time-training
---

# LoRA adapter trained at test time

Rank ${rank}, alpha ${alpha}, on ${targets.join(', ')}. Trained by aTTT Lab on an agent's own text during one
episode; it fits the base model named above and no other.

\`\`\`python
from peft import PeftModel
from transformers import AutoModelForCausalLM

model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained("${base.name}"), "path/to/this/folder")
\`\`\`
`;
}
