/** What each chart of a run shows: its lines, limits, points and axis. Knows no chart library. */

import type { ChartKind } from './chart-choices.ts';
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
  readonly scale: AxisWish['kind'];
}

export const chartTitles: Readonly<Record<ChartKind, string>> = {
  repetition: say.repetition,
  kl: say.drift,
  loss: say.updateLoss,
  updates: say.updatesRollbacks,
  reward: say.reward,
  novelty: say.novelty,
  gradient: say.gradientNorm,
};

export function chartSpec(run: RunView, kind: ChartKind): ChartSpec {
  const { settings } = run.started.manifest;
  const points = (list: readonly object[]) => list as Points; // the series are flat records of numbers
  const title = chartTitles[kind];
  switch (kind) {
    case 'repetition':
      return {
        kind,
        title,
        unit: say.jaccard,
        lines: [
          { key: 'repetition', label: say.step, term: 'repetition', series: 1, shape: 'line' },
          { key: 'ratio', label: say.rK, term: 'ratio', series: 2, shape: 'marks' },
        ],
        limits: [{ y: settings.repetition_ratio_limit, label: say.rKLimit }],
        points: points(repetitionSeries(run)),
        scale: 'unit',
      };
    case 'kl':
      return {
        kind,
        title,
        unit: say.driftUnit,
        lines: [
          { key: 'kl', label: say.kl, term: 'kl', series: 1, shape: 'dotted-line' },
          {
            key: 'klInContext',
            label: say.inContext,
            term: 'kl_context',
            series: 4,
            shape: 'dashed',
          },
        ],
        limits: [{ y: settings.kl_divergence_limit, label: say.klLimit }],
        points: points(klSeries(run)),
        scale: 'log',
      };
    case 'loss':
      return {
        kind,
        title,
        unit: say.natsPerToken,
        lines: [
          { key: 'before', label: say.before, term: 'loss', series: 2, shape: 'dashed' },
          { key: 'after', label: say.after, term: 'loss', series: 1, shape: 'dotted-line' },
        ],
        limits: [],
        points: points(lossSeries(run)),
        scale: 'linear',
      };
    case 'updates':
      return {
        kind,
        title,
        unit: say.soFar,
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
        limits: [],
        points: points(countSeries(run)),
        scale: 'count',
      };
    case 'reward':
      return {
        kind,
        title,
        unit: say.summed,
        lines: [
          { key: 'reward', label: say.rewardLabel, term: 'reward', series: 3, shape: 'stairs' },
        ],
        limits: [],
        points: points(rewardSeries(run)),
        scale: 'linear',
      };
    case 'novelty':
      return {
        kind,
        title,
        unit: say.noveltyUnit,
        lines: [
          {
            key: 'novelty',
            label: say.noveltyLabel,
            term: 'novelty',
            series: 1,
            shape: 'dotted-line',
          },
        ],
        limits: [{ y: settings.novelty_threshold, label: say.threshold }],
        points: points(noveltySeries(run)),
        scale: 'unit',
      };
    case 'gradient':
      return {
        kind,
        title,
        unit: say.beforeClipping,
        lines: [
          {
            key: 'first',
            label: say.firstStep,
            term: 'grad_norm',
            series: 1,
            shape: 'dotted-line',
          },
          { key: 'last', label: say.lastStep, term: 'grad_norm', series: 4, shape: 'dashed' },
        ],
        limits:
          settings.max_grad_norm > 0 ? [{ y: settings.max_grad_norm, label: say.clipped }] : [],
        points: points(gradientSeries(run)),
        scale: 'linear',
      };
    default:
      return kind satisfies never;
  }
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
