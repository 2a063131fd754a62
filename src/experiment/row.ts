/** One episode as one line of an experiment: a fold over its events, with all that a report reads. */

import type { MethodName } from '../config.ts';
import { mean } from '../math/statistics.ts';
import type { ActionClass, BoundaryOutcome, EpisodeEvent, StopReason } from '../records.ts';
import type { PlannedEpisode } from './plan.ts';

/** A mean cross entropy in nats a token, as the episode started (the base, or with a given adapter) and under the final adapter. */
export interface HeldLoss {
  readonly base: number;
  readonly adapter: number;
}

/** What an adapter unlearnt: the loss of held texts, and of the policy's turns in a held conversation. */
export interface Retention {
  readonly texts: HeldLoss;
  readonly turns: HeldLoss;
}

/** Field names as on disk. Without `seconds`, equal plans give equal rows on one backend and machine. */
export interface Row {
  readonly schema: 1;
  readonly key: string;
  readonly arm: string;
  readonly method: MethodName;
  readonly split: string;
  readonly task: number;
  /** The kind of task; null where the world does not say. */
  readonly kind: string | null;
  readonly seed: number;
  /** Hash of the first world: rows of one task must agree. */
  readonly start: string;
  readonly reason: StopReason;
  readonly error: string | null;
  readonly solved: boolean;
  /** Tries of the task; 1 but for methods that try again. */
  readonly tries: number;
  /** Over all tries. */
  readonly steps: number;
  /** Tokens sampled: refused turns and reflections included. */
  readonly generated: number;
  /** Tokens trained, times gradient steps. */
  readonly trained: number;
  readonly updates: number;
  readonly rollbacks: number;
  readonly outcomes: Partial<Readonly<Record<BoundaryOutcome, number>>>;
  readonly actions: Partial<Readonly<Record<ActionClass, number>>>;
  readonly refused: number;
  /** Of every step of the last try, as the world got it; empty where none could be read. */
  readonly commands: readonly string[];
  /** Of every step of the last try, to three digits. */
  readonly repetition: readonly number[];
  /** Of every boundary that measured it, in nats, in order; refused updates too. As the event has it where it overflowed. */
  readonly kl: readonly number[];
  /** Mean weight of every text that was trained. */
  readonly weights: readonly number[];
  readonly retention: Retention | null;
  /** null where it was not recorded, as of a page's runs of before steps were timed; in files it always is. */
  readonly seconds: number | null;
  /** The version that made it, commit included; empty where it was not recorded. */
  readonly build: string;
}

/** A row that is still being made. */
export interface OpenRow extends Omit<Row, 'seconds' | 'retention'> {
  /** The latest step of this try whose summary was counted: a second boundary there tells of the same one. */
  readonly summarised: number;
}

export function openRow({ key, arm, task, settings }: PlannedEpisode): OpenRow {
  return {
    schema: 1,
    key,
    arm,
    method: settings.method,
    split: task.split,
    task: task.index,
    kind: task.kind ?? null,
    seed: settings.seed,
    start: '',
    reason: 'stopped',
    error: null,
    solved: false,
    tries: 0,
    steps: 0,
    generated: 0,
    trained: 0,
    updates: 0,
    rollbacks: 0,
    outcomes: {},
    actions: {},
    refused: 0,
    commands: [],
    repetition: [],
    kl: [],
    weights: [],
    build: '',
    summarised: 0,
  };
}

/** The row after one more event. */
export function foldRow(row: OpenRow, event: EpisodeEvent): OpenRow {
  switch (event.type) {
    case 'episode_started':
      return {
        ...row,
        start: event.stateHash,
        tries: row.tries + 1,
        commands: [],
        repetition: [],
        summarised: 0,
        build: event.manifest.appVersion,
      };
    case 'step': {
      const refused = event.refused ?? [];
      return {
        ...row,
        steps: row.steps + 1,
        generated:
          row.generated +
          event.generation.ids.length +
          refused.reduce((sum, turn) => sum + turn.tokens, 0),
        refused: row.refused + refused.length,
        actions: counted(row.actions, event.actionClass),
        commands: [...row.commands, event.action],
        repetition: [...row.repetition, round(event.repetition, 3)],
      };
    }
    case 'boundary': {
      const { t, trainedTokens = 0, kl, meanWeight, outcome, summary } = event;
      // What another model writes costs this one nothing.
      const own = summary?.model === null && t > row.summarised ? summary : null;
      return {
        ...row,
        generated: row.generated + (own?.ids.length ?? 0),
        summarised: own ? t : row.summarised,
        outcomes: counted(row.outcomes, outcome),
        trained: row.trained + trainedTokens,
        kl: kl === null ? row.kl : [...row.kl, round(kl, 5)],
        weights:
          trainedTokens === 0 || meanWeight === null
            ? row.weights
            : [...row.weights, round(meanWeight, 4)],
      };
    }
    case 'rolled_back':
      return row;
    case 'episode_ended':
      return {
        ...row,
        reason: event.reason,
        error: event.error?.message ?? null,
        solved: event.reason === 'solved',
        updates: row.updates + event.updates,
        rollbacks: row.rollbacks + event.rollbacks,
        generated: row.generated + (event.reflection?.ids.length ?? 0),
      };
    default:
      return event satisfies never;
  }
}

/** The finished row. A retention that overflowed is none: a loss of NaN is kept by no file. */
export function closeRow(
  { summarised: _, ...row }: OpenRow,
  retention: Retention | null,
  seconds: number | null,
): Row {
  const known = retention && measured(retention) ? retention : null;
  return {
    ...row,
    retention: known && { texts: roundedLoss(known.texts), turns: roundedLoss(known.turns) },
    seconds: seconds === null ? null : round(seconds, 2),
  };
}

function measured({ texts, turns }: Retention): boolean {
  return [texts.base, texts.adapter, turns.base, turns.adapter].every(Number.isFinite);
}

/** Names a task within a world: rows of several splits may stand in one table, each with tasks from 0. */
export function taskOf({ split, task }: Pick<Row, 'split' | 'task'>): string {
  return `${split}/${task}`;
}

/** Rows by a name, such as that of their arm or task; in the order given. */
export function rowsBy(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = nameOf(row);
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return groups;
}

/**
 * By split, seed, task and arm, arms as in `arms`: a report is the same in whatever order its rows were read. Those of
 * other arms come after, by name.
 */
export function sortedRows(
  rows: readonly Row[],
  arms: readonly { readonly name: string }[],
): readonly Row[] {
  const places = new Map(arms.map(({ name }, i) => [name, i]));
  const place = ({ arm }: Row) => places.get(arm) ?? arms.length;
  return rows.toSorted(
    (a, b) =>
      byText(a.split, b.split) ||
      a.seed - b.seed ||
      a.task - b.task ||
      place(a) - place(b) ||
      byText(a.arm, b.arm),
  );
}

/** By code units: the same in every language. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Steps of the last try, which solved the task if any did; `steps` has those of all tries. */
export function lastSteps({ tries, steps, repetition }: Row): number {
  return tries <= 1 ? steps : repetition.length;
}

/** Parts of an episode in which repetition is averaged. */
export const FIFTHS = 5;

/** Mean repetition in each fifth of the last try's steps; null of fewer steps than that. */
export function fifthsOf({ repetition: all }: Row): readonly number[] | null {
  if (all.length < FIFTHS) return null;
  return Array.from({ length: FIFTHS }, (_, i) => {
    const [from, to] = [i, i + 1].map((k) => Math.round((k * all.length) / FIFTHS));
    return mean(all.slice(from, to));
  });
}

/** Repetition above which a step mostly repeats an earlier one. */
export const DRIFTING = 0.8;

/** Whether an episode failed, and repeated itself in the last fifth of its steps. */
export function isDriftingRow(row: Row): boolean {
  return !row.solved && (fifthsOf(row)?.at(-1) ?? 0) > DRIFTING;
}

/** What a row shares with those of other arms that it is paired with: its task and its seed. */
export function pairOf(row: Row): string {
  return `${taskOf(row)}/${row.seed}`;
}

/** True for an episode that says nothing about the policy: it is in no rate. */
export function isErrorRow({ reason }: Pick<Row, 'reason'>): boolean {
  return reason === 'engine_error' || reason === 'environment_error' || reason === 'stopped';
}

function counted<K extends string>(
  counts: Partial<Readonly<Record<K, number>>>,
  name: K,
): Partial<Readonly<Record<K, number>>> {
  return { ...counts, [name]: (counts[name] ?? 0) + 1 };
}

function roundedLoss({ base, adapter }: HeldLoss): HeldLoss {
  return { base: round(base, 5), adapter: round(adapter, 5) };
}

function round(x: number, digits: number): number {
  return Number(x.toFixed(digits));
}
