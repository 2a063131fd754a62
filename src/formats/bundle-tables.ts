/** The tables of a run bundle as folds over its events: one row a trained text, one row a step. */

import type { Settings } from '../config.ts';
import type { Boundary, EpisodeEvent, StepTaken } from '../records.ts';

/** One boundary's update text as a training example; every list is as long as `input_ids`. */
export interface TokenRow {
  readonly step: number;
  readonly outcome: string;
  /** It was trained, and stayed. */
  readonly kept: boolean;
  readonly source: string;
  /** How many leading ids are context; null where the run did not record them. */
  readonly context_tokens: number | null;
  readonly input_ids: readonly number[];
  /** The id itself where it is trained, -100 elsewhere, as Hugging Face has it. */
  readonly labels: readonly number[];
  /** w_j; 0 where there is no label. */
  readonly weights: readonly number[];
  /** Under the raw logits of the policy that sampled the id; null for what was not sampled. */
  readonly logprobs: readonly (number | null)[];
  /** Cross entropy in nats before and after the update; null where it was not measured. */
  readonly ce_before: readonly (number | null)[];
  readonly ce_after: readonly (number | null)[];
  /** Of the step. */
  readonly reward: number;
  /** When the boundary was recorded, ISO 8601; null where no clock was read. */
  readonly recorded_at: string | null;
}

/** A row of metrics.csv; names are short because trackio cuts them to ten letters and digits. */
export interface MetricRow {
  readonly step: number;
  /** Of the step. */
  readonly reward: number | null;
  /** Largest Jaccard similarity with an earlier step. */
  readonly rep: number | null;
  /** Sampled tokens. */
  readonly ntok: number | null;
  /** r_k of the boundary. */
  readonly ratio: number | null;
  readonly novelty: number | null;
  /** Mean token weight. */
  readonly weight: number | null;
  /** Loss before the first and after the last gradient step. */
  readonly loss0: number | null;
  readonly loss: number | null;
  /** Gradient norm of the first gradient step. */
  readonly gnorm: number | null;
  readonly kl: number | null;
  /** KL at the next token of the conversation. */
  readonly klctx: number | null;
  /** Accepted updates so far. */
  readonly upd: number | null;
  /** 1 where the adapter went back to the episode's start. */
  readonly undone: number | null;
  /** Frobenius norm of the adapter's change. */
  readonly dnorm: number | null;
  /** When the step was recorded, in seconds since 1970, and the seconds that it took; null where no clock was read. */
  readonly time: number | null;
  readonly secs: number | null;
  /** The seconds that its boundary took. */
  readonly bsecs: number | null;
  /** Tokens that the policy read before it wrote. */
  readonly nprompt: number | null;
  /** What the step was sampled with. */
  readonly temp: number | null;
  readonly maxtok: number | null;
  /** What the boundary trained with; null where nothing was trained. */
  readonly lr: number | null;
}

export const metricNames = [
  ...['step', 'reward', 'rep', 'ntok', 'ratio', 'novelty', 'weight', 'loss0', 'loss', 'gnorm'],
  ...['kl', 'klctx', 'upd', 'undone', 'dnorm', 'time', 'secs', 'bsecs', 'nprompt', 'temp'],
  ...['maxtok', 'lr'],
] as readonly (keyof MetricRow)[]; // the keys above, in the order of the file

/** A row for each boundary that recorded its tokens, in order. */
export function tokenRows(events: readonly EpisodeEvent[]): TokenRow[] {
  const steps = new Map<number, StepTaken>();
  const rows: TokenRow[] = [];
  for (const event of events) {
    if (event.type === 'step') steps.set(event.t, event);
    if (event.type !== 'boundary' || event.tokens === null) continue;
    const { ids, weights, ceBefore, ceAfter } = event.tokens;
    const step = steps.get(event.t);
    const context = event.tokens.context ?? [];
    const before = <T>(value: T, rest: readonly T[]) => [...context.map(() => value), ...rest];
    rows.push({
      step: event.t,
      outcome: event.outcome,
      kept: event.outcome === 'updated',
      source: event.source,
      context_tokens: event.tokens.context?.length ?? null,
      input_ids: [...context, ...ids],
      labels: before(
        -100,
        ids.map((id, j) => ((weights[j] ?? 0) > 0 ? id : -100)),
      ),
      weights: before(0, weights),
      logprobs: before<number | null>(null, sampledLogprobs(ids, step)),
      ce_before: before(null, ceBefore),
      ce_after: before(null, ceAfter),
      reward: step?.reward ?? 0,
      recorded_at: event.clock?.at ?? null,
    });
  }
  return rows;
}

function sampledLogprobs(ids: readonly number[], step: StepTaken | undefined): (number | null)[] {
  const sampled = step?.generation.ids ?? [];
  const same = sampled.length === ids.length && sampled.every((id, j) => id === ids[j]);
  return ids.map((_, j) => (same ? (step?.generation.logprobs[j] ?? null) : null));
}

/** A row for each step with its boundary; a second boundary or a manual rollback has its own row. */
export function metricRows(events: readonly EpisodeEvent[]): MetricRow[] {
  const rows: MetricRow[] = [];
  let settings: Settings | null = null;
  let open = -1;
  for (const event of events) {
    switch (event.type) {
      case 'episode_started':
        ({ settings } = event.manifest);
        break;
      case 'step':
        open = rows.push(stepRow(event, settings)) - 1;
        break;
      case 'boundary': {
        const row = rows[open];
        const part = boundaryPart(event, settings);
        if (row === undefined) rows.push({ ...emptyRow(event.t), ...timeOf(event), ...part });
        else rows[open] = { ...row, ...part };
        open = -1;
        break;
      }
      case 'rolled_back': {
        const undone = Number(event.restored);
        rows.push({ ...emptyRow(event.t), ...timeOf(event), undone });
        open = -1;
        break;
      }
      default:
        break;
    }
  }
  return rows;
}

function emptyRow(step: number): MetricRow {
  return {
    ...{ step, reward: null, rep: null, ntok: null, ratio: null, novelty: null, weight: null },
    ...{ loss0: null, loss: null, gnorm: null, kl: null, klctx: null, upd: null },
    ...{ undone: null, dnorm: null, time: null, secs: null, bsecs: null, nprompt: null },
    ...{ temp: null, maxtok: null, lr: null },
  };
}

function timeOf({ clock }: EpisodeEvent): Pick<MetricRow, 'time'> {
  return { time: clock ? Date.parse(clock.at) / 1000 : null };
}

function stepRow(step: StepTaken, settings: Settings | null): MetricRow {
  const { t, reward, repetition, generation, clock } = step;
  return {
    ...emptyRow(t),
    ...timeOf(step),
    secs: clock?.seconds ?? null,
    reward,
    rep: repetition,
    ntok: generation.ids.length,
    nprompt: generation.promptTokens,
    temp: settings?.temperature ?? null,
    maxtok: settings?.max_tokens ?? null,
  };
}

function boundaryPart(boundary: Boundary, settings: Settings | null): Partial<MetricRow> {
  return {
    bsecs: boundary.clock?.seconds ?? null,
    ratio: boundary.ratio,
    novelty: boundary.novelty,
    weight: boundary.meanWeight,
    loss0: boundary.losses[0] ?? null,
    loss: boundary.losses.at(-1) ?? null,
    gnorm: boundary.gradNorms[0] ?? null,
    kl: boundary.kl,
    klctx: boundary.klInContext,
    upd: boundary.updates,
    undone: Number(boundary.restored),
    dnorm: boundary.deltaNorm,
    lr: boundary.gradNorms.length > 0 ? (settings?.learning_rate ?? null) : null,
  };
}

/** One JSON object a line. */
export function jsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** Numbers as JavaScript prints them, which reads back to the same double; empty where there is none. */
export function metricsCsv(rows: readonly MetricRow[]): string {
  const lines = rows.map((row) => metricNames.map((name) => row[name] ?? '').join(','));
  return `${[metricNames.join(','), ...lines].join('\n')}\n`;
}
