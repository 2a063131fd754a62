/** The buttons that take a chart home: as SVG or PNG as it is on screen, and its numbers as CSV. */

import { saveText } from './actions.ts';
import { Icon } from './icons.tsx';
import type { PlotLine } from './plot.tsx';
import { plotSvg } from './plot-svg.ts';
import { attempt } from './report.ts';
import { savePng, saveSvg } from './save-picture.ts';

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
  const drawn = plot?.querySelector<SVGSVGElement>('svg.recharts-surface') ?? null;
  const svg = () => (drawn ? plotSvg(drawn, title, lines) : '');
  return (
    <div className="dialog-buttons">
      <button
        type="button"
        className="button"
        disabled={!drawn}
        onClick={() => saveSvg(name, svg())}
      >
        <Icon name="save" />
        SVG
      </button>
      <button
        type="button"
        className="button"
        disabled={!drawn}
        onClick={() => void attempt('The picture was not saved', () => savePng(name, svg()))}
      >
        <Icon name="save" />
        PNG
      </button>
      <button
        type="button"
        className="button"
        onClick={() => saveText(`${name}.csv`, csv, 'text/csv')}
      >
        <Icon name="save" />
        CSV
      </button>
    </div>
  );
}
