/** The numbers behind the lines of a chart as a table, and the buttons that take them and the picture home. */

import { type RefObject, useState } from 'react';
import type { Points } from './chart-specs.ts';
import { chartCsv, columnsOf } from './chart-table.ts';
import { Dialog } from './dialog.tsx';
import { placeText, valueText } from './numbers.ts';
import type { PlotBand, PlotLine } from './plot.tsx';
import { SavePlot } from './save-plot.tsx';
import { numbersDialog as say } from './strings.ts';

/** More cells than this at once are a visible pause. */
const cellsAtOnce = 6000;

export function NumbersDialog({
  name,
  title,
  across,
  lines,
  bands = [],
  points,
  plot,
  drawn,
  onClose,
}: {
  /** Of the files, without their endings. */
  name: string;
  title: string;
  /** What the place of a point is called. */
  across: string;
  lines: readonly PlotLine[];
  bands?: readonly PlotBand[];
  points: Points;
  /** The element that holds the chart. */
  plot: RefObject<HTMLElement | null>;
  /** False where there is nothing to draw. */
  drawn: boolean;
  onClose: () => void;
}) {
  const columns = columnsOf(lines, bands);
  const part = Math.max(50, Math.floor(cellsAtOnce / (columns.length + 1)));
  const [rows, setRows] = useState(part);
  const left = points.length - rows;
  return (
    <Dialog title={title} onClose={onClose}>
      <SavePlot
        name={name}
        title={title}
        lines={lines}
        plot={plot}
        drawn={drawn}
        csv={() => chartCsv(across, columns, points)}
      />
      <table>
        <thead>
          <tr>
            <th scope="col" className="number">
              {across}
            </th>
            {columns.map(({ key, label }) => (
              <th key={key} scope="col" className="number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.slice(0, rows).map((point) => (
            <tr key={point.t}>
              <td className="number">{placeText(point.t ?? 0)}</td>
              {columns.map(({ key }) => (
                <td key={key} className="number">
                  {valueText(point[key])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <button type="button" className="button small" onClick={() => setRows(rows + part)}>
          {say.more(Math.min(part, left), left)}
        </button>
      )}
    </Dialog>
  );
}
