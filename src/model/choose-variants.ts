/**
 * Settles which variants run on the adapter at hand: those asked for, those remembered, or the fastest by
 * a timing. Where choices are kept is the caller's matter; what is timed stands in variant-trials.ts.
 */

import { LabError } from '../errors.ts';
import type { OpenBackend } from './device.ts';
import type { LlamaModel } from './llama.ts';
import { gpuBackend, submitRecorded } from './ops/program.ts';
import { variantTrials } from './variant-trials.ts';
import {
  type Choice,
  choiceOn,
  FIXED,
  offered,
  readChoice,
  runnable,
  useChoice,
  type VariantOf,
  type VariantOp,
  writeChoice,
} from './variants.ts';

/** Where choices are kept from one session to the next, by the adapter's name. */
export interface VariantMemory {
  recall(adapter: string): Promise<string | undefined>;
  keep(adapter: string, choice: string): Promise<void>;
}

/** Which kernels are wanted. */
export interface KernelWishes {
  /** `measure`, `fixed`, or a choice as a run's record has it. */
  readonly asked: string;
  /** Without it nothing is measured. */
  readonly memory?: VariantMemory | undefined;
  /** Milliseconds after which no further timing begins; {@link BUDGET_MS} unless said. */
  readonly budgetMs?: number;
}

/**
 * Some drivers compile so slowly that timing every variant would keep a load waiting: llvmpipe (Mesa 25)
 * took 68 s of two cores for what SwiftShader does in 2.
 */
const BUDGET_MS = 4000;

/** Counted up when a kernel changes so much that earlier timings say nothing. */
const GENERATION = 3;

/**
 * Sets the variants for a model on its backend: the ones asked for, else the ones remembered for this
 * adapter, else the fastest by a timing of about a second, which is then remembered. An op whose timing did
 * not end in time is as fixed, and timed again at the next load, when what was compiled lies in the driver's
 * cache. Where nothing is wished, nothing is measured. Throws `bad_input` for a text that is no choice,
 * `unsupported` for one that the adapter cannot run.
 */
export async function settleVariants(
  model: LlamaModel,
  backend: Pick<OpenBackend, 'name' | 'device'>,
  { asked, memory, budgetMs = BUDGET_MS }: KernelWishes = { asked: 'fixed' },
): Promise<void> {
  if (backend.name !== 'webgpu') return;
  const { device } = gpuBackend();
  if (asked !== 'measure') useChoice(device, asked === 'fixed' ? FIXED : askedChoice(asked));
  else if (memory === undefined) useChoice(device, FIXED);
  else useChoice(device, await measuredOnce(model, backend.device, memory, budgetMs));
}

async function measuredOnce(
  model: LlamaModel,
  adapter: string,
  memory: VariantMemory,
  budgetMs: number,
): Promise<Choice> {
  const key = `${adapter}, kernels ${GENERATION}`;
  const known = readChoice((await memory.recall(key)) ?? '');
  if (known !== null && runnable(gpuBackend().device, known)) return known;
  const { choice, complete } = await fastestChoice(model, performance.now() + budgetMs);
  if (complete) await memory.keep(key, writeChoice(choice));
  return choice;
}

function askedChoice(text: string): Choice {
  const choice = readChoice(text);
  if (choice !== null) return choice;
  throw new LabError(
    'bad_input',
    `"${text}" names no kernels; expected "measure", "fixed", or a choice as a run's manifest has it, such as "${writeChoice(FIXED)}".`,
  );
}

/** Work that can be timed, and whose result can be read. */
export interface Trial {
  /** Hands the work to the GPU once. */
  readonly run: () => void;
  /** Does it once and reads the result back. */
  readonly result: () => Promise<Float32Array>;
}

/**
 * How much faster a variant must be than the ones before it to be taken: timings scatter, and two loads on
 * one machine should choose alike, since the order of sums, and so the last bits of logits, hangs on it.
 */
const MARGIN = 1.2;

/** An attempt is repeated until it takes about so long: enough for a clock of tenths of milliseconds. */
const LEAST_MS = 8;

/** And no more often than this. */
const MOST_REPEATS = 128;

/** Attempts a variant: the variants take turns, so that a machine that is busy for a while is so for all. */
const ROUNDS = 4;

/** Largest distance between two variants' results, relative to the largest value. */
const AGREEMENT = 1e-3;

/**
 * The fastest of the variants, by the best of its attempts; null when that could not be told until `until`,
 * a time of the clock `now`. One that disagrees with the first is left out, whatever its speed: a driver may
 * get a kernel wrong. `done` resolves when the GPU is idle.
 */
export async function fastest<Name>(
  names: readonly [Name, ...Name[]],
  trialOf: (name: Name) => Trial,
  done: () => Promise<unknown>,
  until: number,
  now = () => performance.now(),
): Promise<Name | null> {
  const timed: {
    readonly name: Name;
    readonly trial: Trial;
    readonly repeats: number;
    least: number;
  }[] = [];
  const attempt = async ({ run }: Trial, repeats: number) => {
    const begun = now();
    for (let i = 0; i < repeats; i++) run();
    await done();
    return (now() - begun) / repeats;
  };
  let expected: Float32Array | null = null;
  for (const name of names) {
    if (now() >= until) return null;
    const trial = trialOf(name);
    const found = await trial.result(); // the first run also compiles
    expected ??= found;
    if (!agree(found, expected)) continue;
    const least = await attempt(trial, 1);
    const repeats = Math.min(MOST_REPEATS, Math.max(1, Math.ceil(LEAST_MS / least)));
    timed.push({ name, trial, repeats, least });
  }
  for (let round = 0; round < ROUNDS; round++) {
    const best = Math.min(...timed.map(({ least }) => least));
    // One that was far behind so far does not catch up; its runs are what takes time.
    for (const one of timed.filter(({ least }) => least < 4 * best)) {
      if (now() >= until) return null;
      one.least = Math.min(one.least, await attempt(one.trial, one.repeats));
    }
  }
  const [first] = names;
  return timed.reduce(
    (best, { name, least }) => (least < best.least / MARGIN ? { name, least } : best),
    { name: first, least: Number.POSITIVE_INFINITY },
  ).name;
}

function agree(found: Float32Array, expected: Float32Array): boolean {
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-30);
  return (
    found.length === expected.length &&
    found.every((value, i) => Math.abs(value - (expected[i] ?? 0)) <= AGREEMENT * largest)
  );
}

async function fastestChoice(
  model: LlamaModel,
  until: number,
): Promise<{ readonly choice: Choice; readonly complete: boolean }> {
  const { device } = gpuBackend();
  const done = () => {
    submitRecorded();
    return device.queue.onSubmittedWorkDone();
  };
  const before = choiceOn(device);
  let complete = true;
  using trials = variantTrials(model);
  const best = async <Op extends VariantOp>(op: Op, trialOf: (name: VariantOf<Op>) => Trial) => {
    const found = await fastest(namesOf(device, op), trialOf, done, until);
    complete &&= found !== null;
    return found ?? FIXED[op];
  };
  try {
    const choice: Choice = {
      matmul: await best('matmul', trials.matmul),
      transpose: await best('transpose', trials.transpose),
      prefill: await best('prefill', trials.prefill),
      attention: await best('attention', trials.attention),
      matvec: trials.matvec === null ? FIXED.matvec : await best('matvec', trials.matvec),
    };
    return { choice, complete };
  } finally {
    useChoice(device, before);
  }
}

/** The offered variants; the first is always among them. */
function namesOf<Op extends VariantOp>(
  device: GPUDevice,
  op: Op,
): [VariantOf<Op>, ...VariantOf<Op>[]] {
  const [first, ...rest] = offered(device, op);
  if (first === undefined) throw new LabError('internal', `No variant of ${op} runs here.`);
  return [first, ...rest];
}
