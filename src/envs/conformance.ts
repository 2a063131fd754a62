/** What every environment must keep to, as one check that knows no particular world. */

import { LabError } from '../errors.ts';
import { deriveRng, type Rng } from '../math/rng.ts';
import type { Json, TaskRef } from '../records.ts';
import type { Env, EnvReset } from './env.ts';

/** A player that sees only what an agent sees. */
export interface Player {
  act(): string;
  see(action: string, observation: string): void;
}

export interface ConformanceOptions {
  /** Tasks to check of each split, spread evenly. */
  readonly tasksPerSplit: number;
  /** Length of the random walks. */
  readonly steps: number;
  readonly seed: number;
  /** The limit within which the oracle must be done. */
  readonly oracleSteps: number;
  /** A command that a world without a list of admissible ones may or may not accept. */
  readonly command?: (rng: Rng) => string;
  /** A player that solves every task, made from the first observation. */
  readonly oracle: (opening: string, env: string) => Player;
}

/** Actions that no world accepts. */
const NONSENSE: readonly string[] = [
  '',
  '   ',
  'xyzzy',
  'xyzzy\nplugh',
  '\u0000',
  'x'.repeat(5000),
];

/** Everything in which an environment breaks its contract, in words; empty when it conforms. */
export function checkEnv(env: Env, options: ConformanceOptions): readonly string[] {
  const faults = new Set<string>();
  const report = (where: string, holds: boolean, claim: string) => {
    if (!holds) faults.add(`${where}: ${claim}`);
  };
  checkDescription(env, report);
  const rng = deriveRng(options.seed, 'conformance', env.description.id);
  const hashes = new Map<string, string>();
  for (const { name, size } of env.description.splits) {
    const tasks = env.tasks(name);
    report(name, tasks.length === size, `has ${tasks.length} tasks, its description says ${size}`);
    report(
      name,
      tasks.every((t, i) => t.env === env.description.id && t.split === name && t.index === i),
      'its tasks name this environment, this split and their own place',
    );
    throwsNotFound(() => env.initial({ ...taskOf(env, name), index: size }), report, name);
    const stride = Math.max(1, Math.floor(tasks.length / options.tasksPerSplit));
    for (let i = 0; i < options.tasksPerSplit * stride && i < tasks.length; i += stride) {
      const task = tasks[i];
      if (task !== undefined) checkTask(env, task, options, rng, hashes, report);
    }
  }
  return [...faults];
}

type Report = (where: string, holds: boolean, claim: string) => void;

function checkDescription(env: Env, report: Report): void {
  const { id, label, help, citation, splits, oracleScore, idleScore } = env.description;
  report(id, /^[\w-]+\/[\w.-]+-v\d+(\.\d+)*$/.test(id), 'its id has the form namespace/Name-vN');
  report(
    id,
    [label, help, citation].every((text) => text.trim() !== ''),
    'it describes itself',
  );
  report(id, splits.length > 0, 'it has a split');
  report(id, oracleScore > idleScore, 'an oracle scores more than doing nothing');
  throwsNotFound(() => env.tasks('no such split'), report, id);
}

function throwsNotFound(call: () => unknown, report: Report, where: string): void {
  let code = 'nothing';
  try {
    call();
  } catch (thrown) {
    code = thrown instanceof LabError ? thrown.code : String(thrown);
  }
  report(where, code === 'not_found', `what does not exist throws not_found, here ${code}`);
}

function taskOf(env: Env, split: string): TaskRef {
  return { env: env.description.id, split, index: 0 };
}

function checkTask(
  env: Env,
  task: TaskRef,
  options: ConformanceOptions,
  rng: Rng,
  hashes: Map<string, string>,
  report: Report,
): void {
  const where = `${task.split} ${task.index}`;
  const start = env.initial(task);
  report(where, same(start, env.initial(task)), 'equal tasks give equal worlds');
  report(where, start.observation.trim() !== '', 'the first observation says something');
  report(where, !start.info.won, 'it is not won at the start');
  walk(env, start, options, rng, hashes, (holds, claim) => report(where, holds, claim));

  const check = (holds: boolean, claim: string) => report(where, holds, claim);
  const { oracleScore, idleScore } = env.description;
  const oracle = options.oracle(start.observation, env.description.id);
  const solved = play(env, start, oracle, options.oracleSteps, check);
  report(where, solved === oracleScore, `the oracle scores ${oracleScore}, here ${solved}`);
  const idle = play(env, start, { act: () => '', see: () => undefined }, 5, check);
  report(where, idle === idleScore, `doing nothing scores ${idleScore}, here ${idle}`);
}

/** A random walk over admissible and nonsensical commands; over given ones where a world has no list. */
function walk(
  env: Env,
  start: EnvReset,
  { steps, command: propose }: ConformanceOptions,
  rng: Rng,
  hashes: Map<string, string>,
  report: (holds: boolean, claim: string) => void,
): void {
  let { state } = start;
  let hash = start.info.stateHash;
  for (let i = 0; i < steps; i++) {
    const text = JSON.stringify(state);
    report((hashes.get(hash) ?? text) === text, 'different worlds have different hashes');
    hashes.set(hash, text);
    const refused = attempt(env, state, rng.pick(NONSENSE), report);
    if (refused === null) return;
    report(refused.info.stateHash === hash, 'an unknown action changes nothing');
    report(refused.observation.trim() !== '', 'an unknown action is answered');

    const commands = env.admissible?.(state) ?? ['xyzzy'];
    const sorted = [...new Set(commands)].sort();
    report(same(commands, sorted), 'the admissible commands are sorted and differ from each other');
    for (const command of env.admissible === undefined ? [] : commands) {
      const observation = attempt(env, state, command, report)?.observation;
      report(observation !== refused.observation, `the admissible "${command}" is accepted`);
    }
    const action =
      env.admissible === undefined && propose
        ? propose(rng)
        : rng.pick(commands.length === 0 ? ['xyzzy'] : commands);
    const after = attempt(env, state, action, report);
    if (after === null) return;
    report(JSON.stringify(state) === text, 'a step does not change the state it is given');
    const copy: Json = JSON.parse(text);
    report(same(after, env.step(copy, action)), 'a state survives JSON, with an equal next step');
    report(Number.isFinite(after.reward), 'a reward is a number');
    report(!after.truncated, 'a world sets no limits of its own');
    report(after.terminated || !after.info.won, 'a task that is won has ended');
    ({ state } = after);
    hash = after.info.stateHash;
    if (after.terminated) return;
  }
}

function attempt(
  env: Env,
  state: Json,
  action: string,
  report: (holds: boolean, claim: string) => void,
) {
  try {
    return env.step(state, action);
  } catch (thrown) {
    report(false, `no action throws, here ${JSON.stringify(action.slice(0, 40))} (${thrown})`);
    return null;
  }
}

/** The sum of rewards of a player. */
function play(
  env: Env,
  start: EnvReset,
  player: Player,
  steps: number,
  report: (holds: boolean, claim: string) => void,
): number {
  let { state } = start;
  let score = 0;
  for (let i = 0; i < steps; i++) {
    const action = player.act();
    const after = attempt(env, state, action, report);
    if (after === null) break;
    score += after.reward;
    if (after.terminated) break;
    player.see(action, after.observation);
    ({ state } = after);
  }
  return score;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
