/** The buttons that take a chart home: as SVG or PNG as it is on screen, and its numbers as CSV. */

import type { PlotLine } from './plot.tsx';
import { plotSvg } from './plot-svg.ts';
import { SaveButtons } from './save-buttons.tsx';

export function SavePlot({
  name,
  title,
  lines,
  plot,
  csv,
}: {
  name: string;
  title: string;
  lines: readonly PlotLine[];
  /** The element that holds the chart; null where nothing is drawn. */
  plot: HTMLElement | null;
  csv: string;
}) {
  const drawn = plot?.querySelector<SVGSVGElement>('svg.plot-surface') ?? null;
  const svg = drawn && (() => plotSvg(drawn, title, lines));
  return <SaveButtons name={name} svg={svg} table={name} csv={() => csv} />;
}
