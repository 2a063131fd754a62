/** What each chart of a run shows: its lines, limits, points and axis. Knows no chart library. */

import type { Settings } from '../config.ts';
import type { ChartKind, OwnChoice } from './chart-choices.ts';
import type { PlotLimit, PlotLine } from './plot.tsx';

import type { RunView } from './run-view.ts';
import {
  type AxisWish,
  countSeries,
  gradientSeries,
  klSeries,
  lossSeries,
  noveltySeries,
  repetitionSeries,
  rewardSeries,
  smoothed,
} from './series.ts';
import type { TermName } from './strings.ts';
import { chartSpecs as say } from './strings.ts';

export type Points = readonly Readonly<Record<string, number | null>>[];

export interface ChartSpec {
  readonly kind: ChartKind;
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly (PlotLine & { readonly term: TermName })[];
  readonly limits: readonly PlotLimit[];
  readonly points: Points;
}

/** A chart before any run: what depends on one are functions of it. */
interface ChartKindSpec extends Pick<ChartSpec, 'title' | 'unit' | 'lines'> {
  readonly scale: AxisWish['kind'];
  readonly limits: (settings: Settings) => readonly PlotLimit[];
  /** Flat records of numbers. */
  readonly points: (run: RunView) => readonly object[];
}

const none = () => [];

const specs: Readonly<Record<ChartKind, ChartKindSpec>> = {
  repetition: {
    title: say.repetition,
    unit: say.jaccard,
    scale: 'unit',
    lines: [
      { key: 'repetition', label: say.step, term: 'repetition', series: 1, shape: 'line' },
      { key: 'ratio', label: say.rK, term: 'ratio', series: 2, shape: 'marks' },
    ],
    limits: (settings) => [{ y: settings.repetition_ratio_limit, label: say.rKLimit }],
    points: repetitionSeries,
  },
  kl: {
    title: say.drift,
    unit: say.driftUnit,
    scale: 'log',
    lines: [
      { key: 'kl', label: say.kl, term: 'kl', series: 1, shape: 'dotted-line' },
      { key: 'klInContext', label: say.inContext, term: 'kl_context', series: 4, shape: 'dashed' },
    ],
    limits: (settings) => [{ y: settings.kl_divergence_limit, label: say.klLimit }],
    points: klSeries,
  },
  loss: {
    title: say.updateLoss,
    unit: say.natsPerToken,
    scale: 'linear',
    lines: [
      { key: 'before', label: say.before, term: 'loss', series: 2, shape: 'dashed' },
      { key: 'after', label: say.after, term: 'loss', series: 1, shape: 'dotted-line' },
    ],
    limits: none,
    points: lossSeries,
  },
  updates: {
    title: say.updatesRollbacks,
    unit: say.soFar,
    scale: 'count',
    lines: [
      { key: 'updates', label: say.updates, term: 'update', series: 3, shape: 'stairs' },
      {
        key: 'rollbacks',
        label: say.rollbacks,
        term: 'rollback',
        series: 2,
        shape: 'dashed-stairs',
      },
    ],
    limits: none,
    points: countSeries,
  },
  reward: {
    title: say.reward,
    unit: say.summed,
    scale: 'linear',
    lines: [{ key: 'reward', label: say.rewardLabel, term: 'reward', series: 3, shape: 'stairs' }],
    limits: none,
    points: rewardSeries,
  },
  novelty: {
    title: say.novelty,
    unit: say.noveltyUnit,
    scale: 'unit',
    lines: [
      { key: 'novelty', label: say.noveltyLabel, term: 'novelty', series: 1, shape: 'dotted-line' },
    ],
    limits: (settings) => [{ y: settings.novelty_threshold, label: say.threshold }],
    points: noveltySeries,
  },
  gradient: {
    title: say.gradientNorm,
    unit: say.beforeClipping,
    scale: 'linear',
    lines: [
      { key: 'first', label: say.firstStep, term: 'grad_norm', series: 1, shape: 'dotted-line' },
      { key: 'last', label: say.lastStep, term: 'grad_norm', series: 4, shape: 'dashed' },
    ],
    limits: (settings) =>
      settings.max_grad_norm > 0 ? [{ y: settings.max_grad_norm, label: say.clipped }] : [],
    points: gradientSeries,
  },
};

export const chartTitle = (kind: ChartKind): string => specs[kind].title;

/** How a chart's values are scaled, and whether a person may choose a logarithm. */
export function scaleOf(
  kind: ChartKind,
  own: OwnChoice | undefined,
): { readonly scale: AxisWish['kind']; readonly canBeLog: boolean } {
  const { scale } = specs[kind];
  const canBeLog = scale === 'log' || scale === 'linear';
  return { scale: canBeLog ? (own?.scale ?? scale) : scale, canBeLog };
}

export function chartSpec(run: RunView, kind: ChartKind): ChartSpec {
  const spec = specs[kind];
  return {
    ...spec,
    kind,
    limits: spec.limits(run.started.manifest.settings),
    points: spec.points(run) as Points, // the series are flat records of numbers
  };
}

/** Counts and marks stay as they are: only lines of measured values are smoothed. */
function smooths(line: PlotLine): boolean {
  return line.shape === 'line' || line.shape === 'dotted-line' || line.shape === 'dashed';
}

/** The spec with smoothed lines, each with its raw line faint behind it. */
export function smoothedSpec(spec: ChartSpec, past: number): ChartSpec {
  if (past === 0) return spec;
  const chosen = spec.lines.filter(smooths);
  const columns = chosen.map(({ key }) => ({
    key,
    values: smoothed(
      spec.points.map((point) => point[key] ?? null),
      past,
    ),
  }));
  return {
    ...spec,
    lines: [
      ...chosen.map((line) => ({ ...line, key: `${line.key} raw`, faint: true })),
      ...spec.lines,
    ],
    points: spec.points.map((point, index) => ({
      ...point,
      ...Object.fromEntries(
        columns.flatMap(({ key, values }) => [
          [`${key} raw`, point[key] ?? null],
          [key, values[index] ?? null],
        ]),
      ),
    })),
  };
}
