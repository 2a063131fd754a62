/** The lines of several runs in one chart: a line a run, or a line a method with its interval. Pure. */

import type { Points } from './chart-specs.ts';
import {
  byMethod,
  type CompareQuantity,
  meanAlong,
  meanLine,
  taskOf,
  valuesOf,
} from './compare-numbers.ts';
import type { PlotBand, PlotLine, Series } from './plot.tsx';
import type { RunView } from './run-view.ts';
import { smoothed } from './series.ts';
import { type Places, placeOf, placesOf, type StepAxis } from './step-axis.ts';
import { overlay as say } from './strings.ts';

export interface Drawing {
  readonly lines: readonly PlotLine[];
  readonly bands: readonly PlotBand[];
  /** `t` is a place on the axis. */
  readonly points: Points;
}

/** Where the steps of each run lie; null where they are counted, or where one of the runs does not tell. */
export function placesOfAll(runs: readonly RunView[], axis: StepAxis): readonly Places[] | null {
  if (axis === 'step') return null;
  const known = runs.flatMap((run) => {
    const places = placesOf(run, axis);
    return places ? [places] : [];
  });
  return known.length === runs.length ? known : null;
}

/** What is drawn, and how; `past` is the weight of the past in smoothed lines, 0 smooths nothing. */
export interface OverlayWish {
  readonly quantity: CompareQuantity;
  readonly grouped: boolean;
  readonly past: number;
  readonly places: readonly Places[] | null;
}

export function drawingOf(runs: readonly RunView[], wish: OverlayWish): Drawing {
  return wish.grouped ? ofGroups(runs, wish) : ofRuns(runs, wish);
}

/** The colour of the n-th chosen run, from 0. */
export function seriesOf(index: number): Series {
  const order = [1, 2, 3, 4, 5, 6, 7, 8] as const;
  return order[index % order.length] ?? 1;
}

/** Counts go in stairs, and what few steps have is dotted. After the eight colours the same ones come again, dashed. */
function shapeOf(index: number, quantity: CompareQuantity): PlotLine['shape'] {
  const again = index >= 8;
  switch (quantity) {
    case 'updates':
    case 'reward':
      return again ? 'dashed-stairs' : 'stairs';
    case 'repetition':
      return again ? 'dashed' : 'line';
    case 'kl':
    case 'loss':
    case 'novelty':
    case 'gradient':
      return again ? 'dashed' : 'dotted-line';
    default:
      return quantity satisfies never;
  }
}

function ofRuns(runs: readonly RunView[], { quantity, past, places }: OverlayWish): Drawing {
  const rows = new Map<number, Record<string, number | null>>();
  const put = (t: number, key: string, value: number | null) => {
    const row = rows.get(t);
    if (row) row[key] = value;
    else rows.set(t, { t, [key]: value });
  };
  const lines: PlotLine[] = [];
  runs.forEach((run, index) => {
    const values = valuesOf(run, quantity);
    const smooth = smoothed(
      values.map(({ value }) => value),
      past,
    );
    const { method, seed } = run.started.manifest.settings;
    const line = {
      label: say.seed(index + 1, method, seed),
      series: seriesOf(index),
      shape: shapeOf(index, quantity),
    };
    if (past > 0) lines.push({ ...line, key: `raw ${index}`, faint: true });
    lines.push({ ...line, key: `run ${index}` });
    const own = places?.[index];
    values.forEach(({ t, value }, n) => {
      const at = own ? placeOf(own, t) : t;
      put(at, `run ${index}`, smooth[n] ?? null);
      if (past > 0) put(at, `raw ${index}`, value);
    });
  });
  return { lines, bands: [], points: inOrder(rows) };
}

/** The interval is that of the means as they are: smoothing would make it narrower than it is. */
function ofGroups(runs: readonly RunView[], { quantity, past, places }: OverlayWish): Drawing {
  const rows = new Map<number, Record<string, number | null>>();
  const lines: PlotLine[] = [];
  const bands: PlotBand[] = [];
  byMethod(runs).forEach((group, index) => {
    const series = seriesOf(index);
    const [key, raw] = [`mean ${index}`, `raw ${index}`];
    const [low, high] = [`low ${index}`, `high ${index}`];
    const tasks = new Set(group.runs.map(taskOf)).size;
    const repeat = tasks > 1 && tasks < group.runs.length;
    const label = say.group(group.name, group.runs.length, repeat ? tasks : null);
    const line = { label, series, shape: shapeOf(index, quantity) };
    if (past > 0) lines.push({ ...line, key: raw, faint: true });
    lines.push({ ...line, key });
    bands.push({ low, high, series, label });
    const own = places && group.runs.map((run) => places[runs.indexOf(run)] ?? []);
    const points = own ? meanAlong(group.runs, quantity, own) : meanLine(group.runs, quantity);
    const smooth = smoothed(
      points.map((point) => point.mean),
      past,
    );
    points.forEach((point, n) => {
      rows.set(point.t, {
        ...(rows.get(point.t) ?? { t: point.t }),
        [key]: smooth[n] ?? null,
        ...(past > 0 && { [raw]: point.mean }),
        [low]: point.interval?.low ?? null,
        [high]: point.interval?.high ?? null,
      });
    });
  });
  return { lines, bands, points: inOrder(rows) };
}

function inOrder(rows: ReadonlyMap<number, Record<string, number | null>>): Points {
  return [...rows.values()].sort((a, b) => (a.t ?? 0) - (b.t ?? 0));
}
