/** The numbers behind the lines of a chart as CSV: every value, whatever of it is drawn. Pure. */

import type { Points } from './chart-specs.ts';
import { csvOf } from './csv.ts';
import type { PlotLine } from './plot.tsx';

/** A row a point; `across` is what its place is called. */
export function chartCsv(across: string, lines: readonly PlotLine[], points: Points): string {
  return csvOf([
    [across, ...lines.map(({ label, faint }) => (faint ? `${label} raw` : label))],
    ...points.map((point) => [point.t ?? null, ...lines.map(({ key }) => point[key] ?? null)]),
  ]);
}
