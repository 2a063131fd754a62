/** The buttons that take a chart home: as SVG or PNG as it is on screen, and its numbers as CSV. */

import type { RefObject } from 'react';
import type { PlotLine } from './plot.tsx';
import { plotSvg } from './plot-svg.ts';
import { SaveButtons } from './save-buttons.tsx';

export function SavePlot({
  name,
  title,
  lines,
  plot,
  drawn,
  csv,
}: {
  name: string;
  title: string;
  lines: readonly PlotLine[];
  /** The element that holds the chart. */
  plot: RefObject<HTMLElement | null>;
  /** False where there is nothing to draw. */
  drawn: boolean;
  csv: () => string;
}) {
  const svg = () => {
    const chart = plot.current?.querySelector<SVGSVGElement>('svg.recharts-surface');
    return chart ? plotSvg(chart, title, lines) : '';
  };
  return <SaveButtons name={name} svg={drawn ? svg : null} table={name} csv={csv} />;
}
