/**
 * The one schema of settings: every field's default, range, unit, label, help and place on disk.
 * Forms, TOML and JSON files, the URL and the documentation all derive from this table.
 */

/** Which of the two files a field lives in, and its dotted key there. */
interface Place {
  readonly file: 'config.toml' | 'settings.json';
  readonly key: string;
}

interface FieldBase {
  readonly group:
    | 'policy'
    | 'summary'
    | 'method'
    | 'trigger'
    | 'rollback'
    | 'logging'
    | 'run'
    | 'prompt';
  readonly label: string;
  /** Plain words, with the formula where there is one; shown as the field's tooltip. */
  readonly help: string;
  readonly place: Place;
  /** Where the idea comes from. */
  readonly citation?: string;
  /** Rarely touched; folded away in the form. */
  readonly advanced?: boolean;
}

export interface NumberField extends FieldBase {
  readonly kind: 'number';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly integer: boolean;
  readonly unit?: string;
}
export interface ChoiceField extends FieldBase {
  readonly kind: 'choice';
  readonly default: string;
  readonly options: readonly string[];
}
export interface SwitchField extends FieldBase {
  readonly kind: 'switch';
  readonly default: boolean;
}
export interface TextField extends FieldBase {
  readonly kind: 'text';
  readonly default: string;
  readonly multiline?: boolean;
}
/** A list of names out of a closed set. */
export interface ListField extends FieldBase {
  readonly kind: 'list';
  readonly default: readonly string[];
  readonly options: readonly string[];
}
export type Field = NumberField | ChoiceField | SwitchField | TextField | ListField;

const toml = (key: string): Place => ({ file: 'config.toml', key });
const json = (key: string): Place => ({ file: 'settings.json', key });

type NumberOptions = Omit<NumberField, 'kind' | 'default' | 'min' | 'max' | 'integer'>;
const int = (value: number, min: number, max: number, rest: NumberOptions): NumberField => ({
  kind: 'number',
  default: value,
  min,
  max,
  integer: true,
  ...rest,
});
const real = (value: number, min: number, max: number, rest: NumberOptions): NumberField => ({
  ...int(value, min, max, rest),
  integer: false,
});
const text = (value: string, rest: Omit<TextField, 'kind' | 'default'>): TextField => ({
  kind: 'text',
  default: value,
  ...rest,
});
const onOff = (value: boolean, rest: FieldBase): SwitchField => ({
  kind: 'switch',
  default: value,
  ...rest,
});
const choice = <const O extends string>(
  value: O,
  options: readonly O[],
  rest: FieldBase,
): ChoiceField & { readonly default: O; readonly options: readonly O[] } => ({
  kind: 'choice',
  default: value,
  options,
  ...rest,
});
const list = <const O extends string>(
  value: readonly O[],
  options: readonly O[],
  rest: FieldBase,
): ListField & { readonly default: readonly O[]; readonly options: readonly O[] } => ({
  kind: 'list',
  default: value,
  options,
  ...rest,
});

/** The seven linear projections that LoRA can adapt, by PEFT's names. */
export const loraTargets = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const;
export type LoraTarget = (typeof loraTargets)[number];

/** Every method that this build can run. */
export const methodNames = [
  'attt',
  'frozen',
  'naive',
  'sequence_filter',
  'random_drop',
  'static',
  'static_q',
  'static_in_place',
  'repetition_penalty',
  'temperature',
  'loop_breaker',
  'short_history',
  'long_context',
  'reflexion',
] as const;
export type MethodName = (typeof methodNames)[number];

/** Those that train while they act, as each says of itself in train/methods. */
export const actingTrainers: readonly MethodName[] = [
  'attt',
  'naive',
  'sequence_filter',
  'random_drop',
];

/** Those that try a failed task again with what they wrote about it, as each says of itself in train/methods. */
export const retrying: readonly MethodName[] = ['reflexion'];

/** What can ask for an update besides a person. */
const triggerNames = ['periodic', 'repetition', 'error', 'low_confidence', 'high_entropy'] as const;
export type TriggerName = (typeof triggerNames)[number];

/** The table itself. Keys are the names used everywhere in the program, in the URL and in the CLI. */
export const fields = {
  // ------------------------------------------------------------ policy
  policy_model: text('household', {
    group: 'policy',
    label: 'Policy model',
    help: 'The model that acts: a bundled name, the name of an opened file, or a URL of a GGUF.',
    place: toml('models.policy.model'),
  }),
  temperature: real(0.7, 0, 5, {
    group: 'policy',
    label: 'Temperature',
    help: 'Logits are divided by it before sampling; 0 takes the most likely token, the lowest id on a tie.',
    place: toml('models.policy.temperature'),
  }),
  max_tokens: int(2048, 1, 8192, {
    group: 'policy',
    label: 'Tokens per step',
    unit: 'tokens',
    help: 'The most tokens one thought and action may take; cut to what the context leaves.',
    place: toml('models.policy.max_tokens'),
  }),
  top_k: int(0, 0, 100_000, {
    group: 'policy',
    label: 'Top-k',
    help: 'Only the k most likely tokens can be sampled; 0 keeps all.',
    place: toml('lab.top_k'),
    advanced: true,
  }),
  top_p: real(1, 0, 1, {
    group: 'policy',
    label: 'Top-p',
    help: 'Only the smallest set of tokens whose probabilities sum to p can be sampled; 1 keeps all.',
    place: toml('lab.top_p'),
    advanced: true,
  }),
  repetition_penalty: real(1, 0.1, 10, {
    group: 'policy',
    label: 'Repetition penalty',
    help: 'Logits of ids already in the conversation are divided (if positive) or multiplied (if negative) by it, once each; 1 does nothing.',
    place: toml('lab.repetition_penalty'),
    advanced: true,
  }),
  context_length: int(4096, 64, 131_072, {
    group: 'policy',
    label: 'Context',
    unit: 'tokens',
    help: 'The longest conversation the policy sees; cut to what the model was trained for. When it is full, the oldest turns are dropped down to half.',
    place: toml('lab.context_length'),
    advanced: true,
  }),
  history_turns: int(0, 0, 10_000, {
    group: 'policy',
    label: 'Turns kept',
    unit: 'turns',
    help: 'Only the last turns stay in the conversation, after the system text and the task; 0 keeps all that fit.',
    place: toml('lab.history_turns'),
    advanced: true,
  }),
  // ------------------------------------------------------------ summary model
  summary_model: text('', {
    group: 'summary',
    label: 'Summary model',
    help: 'The name of a chat model behind an OpenAI-compatible endpoint, for update text "summary"; empty: the policy writes its own summaries.',
    place: toml('models.summary.model'),
    advanced: true,
  }),
  summary_temperature: real(0.2, 0, 5, {
    group: 'summary',
    label: 'Summary temperature',
    help: 'Sampling temperature of the summary model.',
    place: toml('models.summary.temperature'),
    advanced: true,
  }),
  summary_max_tokens: int(512, 1, 8192, {
    group: 'summary',
    label: 'Summary length',
    unit: 'tokens',
    help: 'The most tokens a summary may take.',
    place: toml('models.summary.max_tokens'),
    advanced: true,
  }),
  // ------------------------------------------------------------ method
  method: choice('attt', methodNames, {
    group: 'method',
    label: 'Method',
    help: 'attt trains the adapter while the agent acts; frozen never does; the others each change a little of one of the two (docs/methods.md).',
    place: toml('lab.method'),
  }),
  enabled: onOff(true, {
    group: 'method',
    label: 'Updates on',
    help: 'Off: every boundary is recorded as "disabled" and nothing is trained.',
    place: toml('att.enabled'),
  }),
  observe_only: onOff(false, {
    group: 'method',
    label: 'Observe only',
    help: 'Every number of a boundary is computed and recorded, nothing is trained.',
    place: toml('lab.observe_only'),
  }),
  text_source: choice('self', ['self', 'env', 'summary'], {
    group: 'method',
    label: 'Update text',
    help: 'What is trained on: "self" = the last step\'s thought and action, "env" = the last observation, "summary" = what a summary model, or the policy itself, writes of the trajectory so far.',
    place: toml('att.text_source'),
  }),
  lora_rank: int(8, 1, 256, {
    group: 'method',
    label: 'LoRA rank',
    help: 'r in W + (alpha / r) · B · A: the number of directions the adapter can learn per matrix.',
    place: toml('att.lora_rank'),
  }),
  lora_alpha: real(16, 0.001, 4096, {
    group: 'method',
    label: 'LoRA alpha',
    help: "The adapter's term is scaled by alpha / r.",
    place: toml('att.lora_alpha'),
  }),
  target_modules: list(['q_proj', 'v_proj'], loraTargets, {
    group: 'method',
    label: 'Target modules',
    help: "Which linear projections of each layer get an adapter, by PEFT's names.",
    place: toml('lab.target_modules'),
    advanced: true,
  }),
  learning_rate: real(5e-4, 0, 1, {
    group: 'method',
    label: 'Learning rate',
    help: "Adam's step size (β 0.9 and 0.999, ε 1e-8). 0 computes everything and changes nothing.",
    place: toml('att.learning_rate'),
  }),
  grad_steps: int(2, 1, 100, {
    group: 'method',
    label: 'Gradient steps',
    help: 'Adam steps per update, all on the same text.',
    place: toml('att.grad_steps'),
  }),
  max_grad_norm: real(0, 0, 1000, {
    group: 'method',
    label: 'Gradient clipping',
    help: 'The whole gradient is scaled down to this norm when it is larger; 0 never clips.',
    place: toml('lab.max_grad_norm'),
    advanced: true,
  }),
  ngram_n: int(3, 1, 16, {
    group: 'method',
    label: 'n-gram length',
    unit: 'tokens',
    help: 'A token counts as seen when an n-gram of this length that covers it occurred in an earlier accepted update text.',
    place: toml('att.ngram_n'),
  }),
  w_min: real(0.05, 0, 1, {
    group: 'method',
    label: 'Smallest weight',
    help: 'Token weight = max(w_min, 1 / (1 + f)), f = the earlier count of the most frequent covering n-gram.',
    place: toml('att.w_min'),
  }),
  loss_normalisation: choice('weights', ['weights', 'tokens'], {
    group: 'method',
    label: 'Loss divided by',
    help: '"weights": Σ w·CE / Σ w, so a text of equal weights trains as if all were 1: the weights move learning within a text. "tokens": Σ w·CE / N, so a repeated text teaches less as a whole.',
    place: toml('lab.loss_normalisation'),
    advanced: true,
  }),
  history: choice('accepted', ['accepted', 'all'], {
    group: 'method',
    label: 'n-gram history',
    help: 'Counts come from the earlier accepted update texts, or from all earlier texts of that source.',
    place: toml('lab.history'),
    advanced: true,
  }),
  train_context: choice('text', ['text', 'conversation'], {
    group: 'method',
    label: 'Training context',
    help: '"text": the update text alone. "conversation": the same targets after the conversation they were sampled in.',
    place: toml('lab.train_context'),
    advanced: true,
  }),
  kl_penalty: real(0, 0, 1000, {
    group: 'method',
    label: 'KL penalty',
    help: 'β in loss + β · mean KL(now ‖ episode start) over the trained tokens; 0 leaves it out. It pulls at every step, where the KL limit only looks after an update.',
    citation: 'Ziegler et al. 2019, arXiv:1909.08593',
    place: toml('lab.kl_penalty'),
    advanced: true,
  }),
  ewc_strength: real(0, 0, 1e9, {
    group: 'method',
    label: 'EWC strength',
    help: 'λ in loss + λ / 2 · Σ F (θ − θ*)², such a term for each text that was trained before: θ* = the adapter after its update, F = the square of its gradient there; 0 leaves it out.',
    citation: 'Kirkpatrick et al. 2017, PNAS 114:3521',
    place: toml('lab.ewc_strength'),
    advanced: true,
  }),
  replay_texts: int(0, 0, 100, {
    group: 'method',
    label: 'Replayed texts',
    unit: 'texts',
    help: 'This many earlier accepted update texts, drawn at random, are trained along with the new one, at the weights they had.',
    citation: 'Rolnick et al. 2019, arXiv:1811.11682',
    place: toml('lab.replay_texts'),
    advanced: true,
  }),
  validation_texts: int(0, 0, 100, {
    group: 'method',
    label: 'Quick validation',
    unit: 'texts',
    help: "The latest update texts of this episode that were never trained on (where all were: the world's answers, or the policy's own words where answers are trained) are scored before and after an update; when their mean cross entropy rises, the update is discarded. 0 leaves it out.",
    place: toml('lab.validation_texts'),
    advanced: true,
  }),
  baseline_penalty: real(1.2, 0.1, 10, {
    group: 'method',
    label: 'Penalty of the baseline',
    help: 'The repetition penalty of method "repetition_penalty".',
    citation: 'Keskar et al. 2019, arXiv:1909.05858',
    place: toml('lab.baseline_penalty'),
    advanced: true,
  }),
  baseline_temperature: real(1, 0, 5, {
    group: 'method',
    label: 'Temperature of the baseline',
    help: 'The temperature of method "temperature".',
    place: toml('lab.baseline_temperature'),
    advanced: true,
  }),
  baseline_history_turns: int(5, 1, 10_000, {
    group: 'method',
    label: 'Turns of the baseline',
    unit: 'turns',
    help: 'How many turns method "short_history" keeps.',
    place: toml('lab.baseline_history_turns'),
    advanced: true,
  }),
  baseline_context: int(16_384, 64, 131_072, {
    group: 'method',
    label: 'Context of the baseline',
    unit: 'tokens',
    help: 'The context of method "long_context"; cut to what the model was trained for.',
    place: toml('lab.baseline_context'),
    advanced: true,
  }),
  loop_breaker_tries: int(4, 1, 100, {
    group: 'method',
    label: 'Tries of the loop breaker',
    unit: 'tries',
    help: 'How often method "loop_breaker" samples a turn again whose command has just done nothing in this very world; the last try stands.',
    place: toml('lab.loop_breaker_tries'),
    advanced: true,
  }),
  reflexion_tries: int(3, 1, 100, {
    group: 'method',
    label: 'Tries of Reflexion',
    unit: 'tries',
    help: 'How often method "reflexion" may try a task; each failure adds a reflection, and the next prompt holds the last three.',
    citation: 'Shinn et al. 2023, arXiv:2303.11366',
    place: toml('lab.reflexion_tries'),
    advanced: true,
  }),
  reflection_tokens: int(128, 1, 8192, {
    group: 'method',
    label: 'Reflection length',
    unit: 'tokens',
    help: 'The most tokens a reflection may take; cut to half the context.',
    place: toml('lab.reflection_tokens'),
    advanced: true,
  }),
  // ------------------------------------------------------------ trigger
  triggers: list(['periodic'], triggerNames, {
    group: 'trigger',
    label: 'Triggers',
    help: 'What asks for an update; any of them is enough. periodic: every K-th step. repetition: the step repeats an earlier one. error: no action could be read, the world does not accept it, or a test that it ran fails. low_confidence: the sampled tokens were unlikely. high_entropy: the policy was undecided.',
    place: toml('lab.triggers'),
    advanced: true,
  }),
  trigger_repetition: real(0.8, 0, 1, {
    group: 'trigger',
    label: 'Repetition that triggers',
    help: 'Trigger "repetition" asks when the repetition of the step is at or above it.',
    place: toml('lab.trigger_repetition'),
    advanced: true,
  }),
  trigger_logprob: real(-0.5, -100, 0, {
    group: 'trigger',
    label: 'Confidence that triggers',
    unit: 'nats',
    help: 'Trigger "low_confidence" asks when the mean log-probability of the sampled tokens of the step is below it.',
    place: toml('lab.trigger_logprob'),
    advanced: true,
  }),
  trigger_entropy: real(0.5, 0, 100, {
    group: 'trigger',
    label: 'Entropy that triggers',
    unit: 'nats',
    help: 'Trigger "high_entropy" asks when the mean entropy of the distributions that the tokens of the step were sampled from is at or above it.',
    place: toml('lab.trigger_entropy'),
    advanced: true,
  }),
  update_interval_k: int(5, 1, 1000, {
    group: 'trigger',
    label: 'Update every',
    unit: 'steps',
    help: 'K: a boundary comes after every K-th step.',
    place: toml('att.update_interval_k'),
  }),
  min_steps_before_first_update: int(5, 0, 1000, {
    group: 'trigger',
    label: 'First update after',
    unit: 'steps',
    help: 'Earlier boundaries are recorded as "too early".',
    place: json('att.trigger.min_steps_before_first_update'),
  }),
  novelty_threshold: real(0.5, 0, 1, {
    group: 'trigger',
    label: 'Novelty threshold',
    help: 'An update needs 1 − r_k at or above it; r_k = the largest Jaccard similarity of the words of this update text with an earlier accepted one.',
    place: json('att.trigger.novelty_threshold'),
  }),
  max_updates_per_episode: int(10, 0, 1000, {
    group: 'trigger',
    label: 'Most updates',
    help: 'After this many accepted updates an episode trains no more; the rollback checks go on.',
    place: json('att.trigger.max_updates_per_episode'),
  }),
  // ------------------------------------------------------------ rollback
  rollback_enable: onOff(true, {
    group: 'rollback',
    label: 'Rollback on',
    help: 'Off: limits are still measured and recorded, but nothing is rolled back.',
    place: json('att.rollback.enable'),
  }),
  kl_divergence_limit: real(0.5, 0, 1000, {
    group: 'rollback',
    label: 'KL limit',
    unit: 'nats',
    help: 'Above it the adapter returns to the episode start. KL = mean over the trained positions of the exact KL(policy now ‖ policy at the episode start) over the whole vocabulary.',
    place: json('att.rollback.kl_divergence_limit'),
  }),
  repetition_ratio_limit: real(0.8, 0, 1, {
    group: 'rollback',
    label: 'Repetition limit',
    help: 'When r_k is above it the adapter returns to the episode start.',
    place: json('att.rollback.repetition_ratio_limit'),
  }),
  on_trigger: choice('reset_lora_to_episode_start', ['reset_lora_to_episode_start'], {
    group: 'rollback',
    label: 'On trigger',
    help: 'What a rollback restores: adapter, optimiser moments and step counter as they were at the episode start.',
    place: json('att.rollback.on_trigger'),
    advanced: true,
  }),
  // ------------------------------------------------------------ logging
  log_repetition_ratio: onOff(true, {
    group: 'logging',
    label: 'Log repetition',
    help: 'Kept for the files that name it, and changes nothing: the repetition of each step (the largest Jaccard similarity of its words with any earlier step) is always recorded, since triggers, charts and replays read it.',
    place: json('att.observability.log_repetition_ratio'),
    advanced: true,
  }),
  log_token_weights: onOff(true, {
    group: 'logging',
    label: 'Log token weights',
    help: "Record every token's weight, counts and cross entropy at each boundary.",
    place: json('att.observability.log_token_weights'),
    advanced: true,
  }),
  log_alternatives: int(0, 0, 20, {
    group: 'logging',
    label: 'Alternatives per token',
    unit: 'tokens',
    help: 'How many of the likeliest tokens are recorded at each trained position, with the KL. 0 records none.',
    place: toml('lab.log_alternatives'),
    advanced: true,
  }),
  log_kl_every_n_updates: int(1, 0, 1000, {
    group: 'logging',
    label: 'Measure KL every',
    unit: 'updates',
    help: 'The KL gate is blind in between; 0 never measures it.',
    place: json('att.observability.log_kl_every_n_updates'),
    advanced: true,
  }),
  // ------------------------------------------------------------ run
  seed: int(1, 0, Number.MAX_SAFE_INTEGER, {
    group: 'run',
    label: 'Seed',
    help: 'Equal seeds give equal runs; every method draws the same random numbers at the same step.',
    place: toml('lab.seed'),
  }),
  step_limit: int(50, 1, 10_000, {
    group: 'run',
    label: 'Step limit',
    unit: 'steps',
    help: 'The episode is cut here; the task counts as not solved.',
    place: toml('lab.step_limit'),
  }),
  step_timeout: real(10, 0.1, 600, {
    group: 'run',
    label: 'World time limit',
    unit: 's',
    help: 'A world that takes longer for one step is replaced, and the episode ends as an environment error.',
    place: toml('lab.step_timeout'),
    advanced: true,
  }),
  // ------------------------------------------------------------ prompt
  system_prompt: text('', {
    group: 'prompt',
    label: 'System prompt',
    help: 'Empty for the bundled policy, which was trained without one.',
    place: toml('lab.system_prompt'),
    multiline: true,
    advanced: true,
  }),
  show_admissible: onOff(false, {
    group: 'prompt',
    label: 'Show admissible commands',
    help: 'Adds the list of commands that the world would accept to each observation; loops become rarer.',
    place: toml('lab.show_admissible'),
    advanced: true,
  }),
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof fields;

type ValueOf<F extends Field> = F extends { kind: 'number' }
  ? number
  : F extends { kind: 'switch' }
    ? boolean
    : F extends { kind: 'choice'; options: readonly (infer O)[] }
      ? O
      : F extends { kind: 'list'; options: readonly (infer O)[] }
        ? readonly O[]
        : string;

/** All settings of a run; frozen into its manifest. */
export type Settings = { readonly [K in FieldName]: ValueOf<(typeof fields)[K]> };

/** The names in table order. */
export const fieldNames = Object.keys(fields) as readonly FieldName[]; // keys of the const table itself

/** The default of every field. */
export const defaultSettings: Settings = Object.fromEntries(
  fieldNames.map((name) => [name, fields[name].default]),
) as Settings; // built from the table that the type is built from

/** What an environment changes in the defaults; files and forms override it. Keyed by the id's namespace. */
const envPresets: Readonly<Record<string, SettingsPatch>> = {
  household: { max_tokens: 64 },
  repair: {
    max_tokens: 512,
    system_prompt:
      'You repair programs. Answer each observation with one short thought and one command, like this:\nThought: The loop ends one too early.\nAction: replace 12 with for (let i = 0; i <= n; i++) {',
  },
};

/** Whether an environment has defaults of its own. */
export function hasPreset(env: string): boolean {
  return Object.hasOwn(envPresets, env.split('/')[0] ?? '');
}

/** The defaults for an environment, e.g. `household/ALFWorld-v0.4`. */
export function settingsFor(env: string): Settings {
  return { ...defaultSettings, ...envPresets[env.split('/')[0] ?? ''] };
}

/** Settings taken from one environment to another: what stood at the one's default stands at the other's. */
export function settingsInto(env: string, from: string, settings: Settings): Settings {
  const [before, after] = [settingsFor(from), settingsFor(env)];
  const kept = fieldNames.filter((name) => settings[name] !== before[name]);
  return {
    ...settings,
    ...after,
    ...Object.fromEntries(kept.map((name) => [name, settings[name]])),
  };
}

/** What is wrong with a value for a field, in words; null when it is fine. */
export function fieldProblem(name: FieldName, value: unknown): string | null {
  const field: Field = fields[name];
  switch (field.kind) {
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'wants a number';
      if (field.integer && !Number.isInteger(value)) return 'wants a whole number';
      if (value < field.min || value > field.max) {
        return `wants a value from ${field.min} to ${field.max}`;
      }
      return null;
    }
    case 'switch':
      return typeof value === 'boolean' ? null : 'wants true or false';
    case 'text':
      return typeof value === 'string' ? null : 'wants a text';
    case 'choice':
      return typeof value === 'string' && field.options.includes(value)
        ? null
        : `wants one of ${field.options.join(', ')}`;
    case 'list': {
      if (!Array.isArray(value) || value.length === 0) {
        return `wants a list with one or more of ${field.options.join(', ')}`;
      }
      const stranger = value.find((v) => !field.options.includes(v));
      if (stranger !== undefined)
        return `knows no ${String(stranger)}; the choices are ${field.options.join(', ')}`;
      return new Set(value).size === value.length ? null : 'names an entry twice';
    }
    default:
      return field satisfies never;
  }
}

/** A change of some settings. Partial settings merge over defaults or over each other. */
export type SettingsPatch = { readonly [K in FieldName]?: Settings[K] };

/** True where a run asks for summaries to train on; a method that trains before acting has none yet. */
export function asksForSummaries({
  text_source,
  enabled,
  method,
}: Pick<Settings, 'text_source' | 'enabled' | 'method'>): boolean {
  return text_source === 'summary' && enabled && actingTrainers.includes(method);
}

/** The names whose values differ, in table order: what a config diff shows. */
export function changedFields(a: Settings, b: Settings): readonly FieldName[] {
  return fieldNames.filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
}
