/**
 * PEFT's adapter_config.json: which modules it adapts, and how strongly. Refuses by name every
 * setting under which PEFT would compute something other than W + scale · B A. Knows no weights.
 */

import { LabError, messageOf } from '../errors.ts';

export const CONFIG_FILE = 'adapter_config.json';

/** What a LoRA's config says of each module, e.g. of `model.layers.0.self_attn.q_proj`. */
export interface AdapterConfig {
  /** Whether PEFT would make an adapter there. */
  targets(module: string): boolean;
  rankOf(module: string): number;
  /** alpha / r, or alpha / √r in a rank-stabilised adapter. */
  scaleOf(module: string): number;
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Settings that are read here, or that change nothing in what a trained adapter computes: how it was
 * trained, where it came from, how it is loaded. (`fan_in_fan_out` is put right by PEFT itself where
 * the base's layer is a Linear; the settings of one way to begin count with that way alone.)
 */
const KNOWN = new Set([
  ...['peft_type', 'r', 'lora_alpha', 'use_rslora', 'rank_pattern', 'alpha_pattern'],
  ...['target_modules', 'exclude_modules', 'layers_to_transform', 'layers_pattern'],
  ...['modules_to_save', 'bias', 'use_dora', 'init_lora_weights', 'fan_in_fan_out'],
  ...['task_type', 'auto_mapping', 'peft_version', 'base_model_name_or_path', 'revision'],
  ...['inference_mode', 'lora_dropout', 'megatron_core', 'runtime_config'],
  ...['loftq_config', 'eva_config', 'corda_config', 'lora_ga_config'],
  ...['qalora_group_size', 'ensure_weight_tying'],
]);

/**
 * Ways to begin that leave the base as it is. The others (PiSSA, CorDA, OLoRA, LoftQ, LoRA-GA) change
 * its weights, so that the adapter alone is not the change.
 */
const PLAIN_INITS = ['gaussian', 'eva', 'orthogonal', 'mica'];

/** Where a config names no modules: PEFT's own choice for every family that loads here. */
const DEFAULT_TARGETS = ['q_proj', 'v_proj'];

/**
 * Reads the file. A null means what it means to PEFT: mostly "not in use". Throws `bad_input` for what is
 * no LoRA config, `unsupported` naming a setting that would only be applied in part here: other PEFT types,
 * DoRA, bias, modules_to_save, and every setting that this program does not know and that is in use.
 */
export async function readAdapterConfig(text: string): Promise<AdapterConfig> {
  const config = parse(text);
  refuseOthers(config);
  const { r, lora_alpha: alpha, lora_dropout: dropout = 0 } = config;
  if (!isRank(r) || !isAlpha(alpha)) {
    throw bad(
      `r is ${shown(r)} and lora_alpha ${shown(alpha)}; expected a whole number of at least 1, and a number that float32 holds`,
    );
  }
  if (typeof dropout !== 'number' || dropout > 1) {
    throw bad(`lora_dropout is ${shown(dropout)}; expected a number of at most 1`);
  }
  const ranks = await patternsOf(config, 'rank_pattern');
  const alphas = await patternsOf(config, 'alpha_pattern');
  for (const { key, value } of ranks) {
    if (!isRank(value)) throw bad(`rank_pattern has ${value} for ${shown(key)}; expected a rank`);
  }
  const rankOf = (module: string) => ranks.find(({ matches }) => matches(module))?.value ?? r;
  const alphaOf = (module: string) => alphas.find(({ matches }) => matches(module))?.value ?? alpha;
  const stabilised = isTrue(config, 'use_rslora');
  return {
    targets: await targetsOf(config),
    rankOf,
    scaleOf: (module) =>
      alphaOf(module) / (stabilised ? Math.sqrt(rankOf(module)) : rankOf(module)),
  };
}

function parse(text: string): JsonObject {
  let config: unknown;
  try {
    config = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (thrown) {
    throw bad(`it is not JSON: ${messageOf(thrown)}`);
  }
  if (typeof config === 'object' && config !== null && !Array.isArray(config)) return { ...config };
  throw bad(`it holds ${shown(config)}; expected an object`);
}

function refuseOthers(config: JsonObject): void {
  const { peft_type: type, bias = 'none', init_lora_weights: init } = config;
  if (type !== 'LORA') throw inPart(`peft_type ${shown(type)}`);
  if (isTrue(config, 'use_dora')) throw inPart('use_dora (lora_magnitude_vector)');
  if (bias !== 'none') throw inPart(`bias ${shown(bias)}`);
  if (inUse(config.modules_to_save)) {
    throw inPart(`modules_to_save ${listOf(config.modules_to_save).join(', ')}`);
  }
  if (typeof init === 'string' && !PLAIN_INITS.includes(init.toLowerCase())) {
    throw inPart(`init_lora_weights ${shown(init)}, which changes the base's own weights`);
  }
  for (const [key, value] of Object.entries(config)) {
    // To PEFT an empty object is a method with all its defaults: `"kasa_config": {}` is KaSA.
    const begun = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!KNOWN.has(key) && (begun || inUse(value))) throw inPart(`${key} ${shown(value)}`);
  }
}

/** Throws for what is neither: Python would take 1 and "false" for true. */
function isTrue(config: JsonObject, key: string): boolean {
  const value = config[key] ?? false;
  if (typeof value === 'boolean') return value;
  throw bad(`${key} is ${shown(value)}; expected true or false`);
}

/** PEFT writes every setting it has; those not in use are null, false or empty. */
function inUse(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

type Matcher = (module: string) => boolean;

/** As PEFT decides (tuners_utils.check_target_module_exists). */
async function targetsOf(config: JsonObject): Promise<Matcher> {
  const { exclude_modules: excluded } = config;
  const target = config.target_modules ?? DEFAULT_TARGETS;
  if (!inUse(target)) {
    throw bad(
      `target_modules is ${shown(target)}; expected a list of names, a pattern or "all-linear"`,
    );
  }
  const all = typeof target === 'string' && target.toLowerCase() === 'all-linear';
  const chosen = all ? () => true : await namesOrPattern(target);
  const left = inUse(excluded) ? await namesOrPattern(excluded) : () => false;
  const layer = await layerChoice(config);
  // Layers are not chosen for a module that the list names whole.
  const whole = new Set(Array.isArray(target) ? target : []);
  return (module) => chosen(module) && (whole.has(module) || layer(module)) && !left(module);
}

/** A list names modules by their ends; a text is a regular expression for the whole name. */
async function namesOrPattern(value: unknown): Promise<Matcher> {
  if (typeof value === 'string') return expression(value);
  const names = listOf(value);
  return (module) => names.some((name) => module === name || module.endsWith(`.${name}`));
}

async function layerChoice(config: JsonObject): Promise<Matcher> {
  const { target_modules: target, layers_to_transform: layers, layers_pattern: pattern } = config;
  const chosen: unknown[] = Array.isArray(layers) ? layers : [layers ?? []].flat();
  if (!chosen.every(Number.isSafeInteger)) {
    throw bad(
      `layers_to_transform is ${shown(layers)}; expected the number of a layer or a list of them`,
    );
  }
  if (typeof target === 'string' && (chosen.length > 0 || inUse(pattern))) {
    throw bad('layers_to_transform stands beside a pattern, which chooses the layers itself');
  }
  if (chosen.length === 0 && inUse(pattern)) {
    throw bad(
      `layers_pattern ${shown(pattern)} stands without layers_to_transform, which it is for`,
    );
  }
  if (chosen.length === 0) return () => true;
  const names = inUse(pattern) ? listOf(typeof pattern === 'string' ? [pattern] : pattern) : [];
  const lists = await Promise.all(names.map((name) => expression(`(?:.*\\.)?(?:${name})`)));
  return (module) => {
    const [, list, index] = /^(.*?[^.]+)\.(\d+)\./.exec(module) ?? [];
    if (list === undefined || !chosen.includes(Number(index))) return false;
    return lists.length === 0 || lists.some((matches) => matches(list));
  };
}

interface Pattern {
  readonly key: string;
  readonly value: number;
  readonly matches: Matcher;
}

/** The first key that matches counts; PEFT matches it at the end of the name, behind a dot or alone. */
async function patternsOf(config: JsonObject, setting: string): Promise<Pattern[]> {
  const { [setting]: value = {} } = config;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(`${setting} is ${shown(value)}; expected numbers by names of modules, {} for none`);
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_PATTERNS) {
    throw bad(`${setting} has ${entries.length} names; at most ${MAX_PATTERNS} are read`);
  }
  const patterns: Pattern[] = [];
  for (const [key, value] of entries) {
    if (!isAlpha(value)) {
      throw bad(
        `${setting} has ${shown(value)} for ${shown(key)}; expected a number that float32 holds`,
      );
    }
    patterns.push({ key, value, matches: await expression(`(?:.*\\.)?(?:${key})`) });
  }
  return patterns;
}

/** Longer patterns than this are no names of modules. */
const MAX_PATTERN = 2000;
/** Twice the projections of the deepest models; each is an expression of its own. */
const MAX_PATTERNS = 2000;

/**
 * A whole name against a regular expression from a file. RE2 takes time linear in the name, where a
 * crafted expression can keep the platform's own engine busy for ever. Loaded on first need.
 */
async function expression(pattern: string): Promise<Matcher> {
  if (pattern.length > MAX_PATTERN) {
    throw bad(`a pattern has ${pattern.length} characters; at most ${MAX_PATTERN} are read`);
  }
  const { RE2JS } = await import('re2js');
  try {
    const compiled = RE2JS.compile(pattern);
    return (module) => compiled.matches(module);
  } catch (thrown) {
    throw new LabError(
      'unsupported',
      `${CONFIG_FILE} has the pattern ${shown(pattern)}, which cannot be read here (${messageOf(thrown)}). Write it without look-around and back references.`,
    );
  }
}

function listOf(value: unknown): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw bad(`it holds ${shown(value)} where a list of names is expected`);
}

function isRank(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

/** JSON has 1e999, which is no number here, and 1e300, which would make every product infinite. */
function isAlpha(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(Math.fround(value));
}

function shown(value: unknown): string {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return `${value}`;
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function bad(what: string): LabError {
  return new LabError('bad_input', `${CONFIG_FILE}: ${what}. Save the adapter again with PEFT.`);
}

function inPart(what: string): LabError {
  return new LabError(
    'unsupported',
    `${CONFIG_FILE} asks for ${what}, which would only be applied in part here. Supported are plain and rank-stabilised LoRA on linear projections.`,
  );
}
