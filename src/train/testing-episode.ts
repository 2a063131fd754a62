/** For tests only: the spine over scripted ports, so that what a method changes can be read off. */

import { defaultSettings, type Settings } from '../config.ts';
import { runEpisode } from '../episode.ts';
import { LabError } from '../errors.ts';
import type { EpisodePorts, Learner, Order, TrainText, WorldView } from '../ports.ts';
import type {
  Boundary,
  EpisodeEvent,
  LearnerSnapshot,
  RunManifest,
  StepTaken,
} from '../records.ts';

/**
 * Scripted ports: the policy writes the given texts in turn (one id per character), the learner
 * counts, the world ends when told. `rooms` holds the most tokens of each generation. `kl` is what a measurement after an update gives.
 */
export function scripted(texts: readonly string[], options: Script = {}) {
  const { contextLength = 4096 } = options;
  const log: string[] = [];
  const prompts: string[] = [];
  const rooms: number[] = [];
  let adapter = 0;
  let stored: LearnerSnapshot | null = null;
  const snapshot = (step: number): LearnerSnapshot => ({
    schema: 1,
    adapter: { modules: [] },
    optimiser: { step, m: [], v: [] },
  });
  const ids = (text: string) => [...text].map((c) => c.codePointAt(0) ?? 0);
  const decode = (list: readonly number[]) => String.fromCodePoint(...list);
  const view = (over: Partial<WorldView> = {}): WorldView => ({
    observation: 'You see nothing.',
    admissible: ['look', 'go to shelf 1'],
    reward: 0,
    terminated: false,
    stateHash: 'same',
    ...over,
  });
  const learner: Learner = {
    bos: [],
    pieces: (list) => list.map((id) => decode([id])),
    decode,
    encode: ids,
    async train(window, { learning_rate }, signal) {
      signal.throwIfAborted();
      const [text] = window;
      if (!text?.weights.some((w) => w > 0)) throw new LabError('bad_input', 'nothing to train on');
      const length = text.context.length + text.ids.length;
      if (length > contextLength) throw new LabError('limit', `${length} tokens to train on`);
      options.onTrain?.(text);
      adapter++;
      if (window.length > 1) log.push(`replay ${window.slice(1).map((w) => decode(w.ids))}`);
      log.push(`rate ${learning_rate}`);
      log.push(`train ${decode(text.ids)}`);
      const ce = text.ids.map((_, j) => (j === 0 ? null : 1));
      const loss = options.loss ?? 1;
      return { losses: [loss, loss / 2], gradNorms: [1], ceBefore: ce, ceAfter: ce };
    },
    async measure(text) {
      log.push('measure');
      return text.ids.map(() => (adapter > 0 ? (options.heldAfter ?? 1) : 1));
    },
    driftFromStart: async ({ ids, weights }) => {
      const meanKl = options.kl ?? 0.1;
      const perId = (value: number) => weights.map((w) => (w > 0 ? value : null));
      return { meanKl, kl: perId(meanKl), entropy: perId(1), likeliest: ids.map(() => []) };
    },
    klAtPrompt: async () => 0.2,
    deltaNorm: async () => adapter,
    snapshot: async () => snapshot(adapter),
    restore(from) {
      adapter = from.optimiser.step;
      log.push(`restore ${adapter}`);
    },
  };
  let step = 0;
  let asked = 0;
  const ports: EpisodePorts = {
    learner,
    policy: {
      contextLength,
      begin: (messages) => ids(messages.map((m) => m.content).join('')),
      follow: (_generation, message) => ({
        ids: ids(`<${message.content}>`),
        content: [1, 1 + message.content.length],
      }),
      async generate(promptIds, settings, most, rng, signal, onToken) {
        signal.throwIfAborted();
        const text = texts[Math.min(step++, texts.length - 1)] ?? '';
        log.push(`draw ${rng.next()}`);
        log.push(`sampled at ${settings.temperature} × ${settings.repetition_penalty}`);
        prompts.push(decode(promptIds));
        rooms.push(most);
        const list = ids(text);
        onToken(list[0] ?? 0, text[0] ?? '');
        return {
          promptTokens: promptIds.length,
          ids: list,
          logprobs: list.map(() => options.logprob ?? -0.1),
          ...(options.entropy !== undefined && { meanEntropy: options.entropy }),
          text,
          stop: 'eos',
        };
      },
    },
    summaries: {
      async write({ task: told, steps }) {
        log.push(`summary of ${steps.length} after ${told}`);
        const text = options.summaries?.[asked++] ?? '';
        if (typeof text !== 'string') throw text;
        return { model: 'teller', text, ids: ids(text), stop: 'eos' };
      },
    },
    world: {
      reset: async () => view({ observation: 'A room.\n\nYour task is to: look around.' }),
      async step() {
        if (options.worldFailsAt === step) throw new LabError('timeout', 'no answer');
        const solved = options.solvedAt === step;
        const stateHash = options.idleWorld ? 'same' : `s${step}`;
        const failed = options.failsAt === step && ({ failed: true } as const);
        return view({ reward: solved ? 1 : 0, terminated: solved, stateHash, ...failed });
      },
    },
    snapshots: {
      async save(s) {
        stored = structuredClone(s);
      },
      async load() {
        if (!stored) throw new LabError('not_found', 'nothing saved');
        return stored;
      },
    },
    nextOrder: async (t) => options.orders?.[t]?.shift() ?? 'continue',
    onProgress: () => {},
  };
  return { ports, log, prompts, rooms, adapter: () => adapter };
}

export interface Script {
  readonly contextLength?: number;
  readonly kl?: number;
  /** Nats per held token once something was trained. */
  readonly heldAfter?: number;
  /** Of every sampled token. */
  readonly logprob?: number;
  /** Mean of every turn; absent, as from a served model, unless given. */
  readonly entropy?: number;
  /** Nothing that is done changes the world. */
  readonly idleWorld?: boolean;
  readonly loss?: number;
  readonly onTrain?: (text: TrainText) => void;
  /** What the summary model writes, or throws, in turn. */
  readonly summaries?: readonly (string | LabError)[];
  readonly solvedAt?: number;
  readonly worldFailsAt?: number;
  /** Where an action runs a test that fails. */
  readonly failsAt?: number;
  readonly orders?: Record<number, Order[]>;
}

export async function run(
  texts: readonly string[],
  settings: Partial<Settings> = {},
  options: Script = {},
  signal = new AbortController().signal,
  reflections?: readonly string[],
) {
  const script = scripted(texts, options);
  const task = { env: 'household/ALFWorld-v0.4', split: 'train', index: 0 };
  const manifest: RunManifest = {
    schema: 2,
    appVersion: '0',
    modelName: 'scripted',
    modelSha256: '',
    quantisation: 'Q8_0',
    tokenizerSha256: '',
    architecture: 'llama',
    heads: 1,
    kvHeads: 1,
    backend: 'cpu',
    device: '',
    env: task.env,
    task,
    settings: { ...defaultSettings, step_limit: 10, ...settings },
    ...(reflections && { reflections }),
  };
  const events: EpisodeEvent[] = [];
  for await (const event of runEpisode(manifest, script.ports, signal)) events.push(event);
  const boundaries = events.filter((e): e is Boundary => e.type === 'boundary');
  const steps = events.filter((e): e is StepTaken => e.type === 'step');
  return { events, boundaries, steps, ...script };
}

export const turn = (thought: string, action = 'look') => `Thought: ${thought}\nAction: ${action}`;
const vocabulary = [
  'alpha',
  'beta',
  'gamma',
  'delta',
  'epsilon',
  'zeta',
  'eta',
  'theta',
  'iota',
  'kappa',
];
export const fresh = vocabulary.map((w) => turn(`${w} ${w}1 ${w}2 ${w}3 ${w}4 ${w}5`));
export const stuck = [turn('the same words again and again')];
