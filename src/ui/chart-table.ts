/** The numbers behind a chart as columns and as CSV: every value, whatever of it is drawn. Pure. */

import type { Points } from './chart-specs.ts';
import { csvOf } from './csv.ts';
import type { PlotBand, PlotLine } from './plot.tsx';
import { chartTable as say } from './strings.ts';

export interface ChartColumn {
  readonly key: string;
  readonly label: string;
}

/** A column a line, then the two ends of each interval. */
export function columnsOf(
  lines: readonly PlotLine[],
  bands: readonly PlotBand[] = [],
): readonly ChartColumn[] {
  return [
    ...lines.map(({ key, label, faint }) => ({ key, label: faint ? say.raw(label) : label })),
    ...bands.flatMap(({ low, high, label }) => [
      { key: low, label: say.low(label) },
      { key: high, label: say.high(label) },
    ]),
  ];
}

/** A row a point; `across` is what its place is called. */
export function chartCsv(across: string, columns: readonly ChartColumn[], points: Points): string {
  return csvOf([
    [across, ...columns.map(({ label }) => label)],
    ...points.map((point) => [point.t ?? null, ...columns.map(({ key }) => point[key] ?? null)]),
  ]);
}
