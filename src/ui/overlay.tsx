/** One quantity of all chosen runs in one chart: a line a run, or a line a method with its interval. */

import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react';
import { smoothingOf } from './chart-choices.ts';
import { scaleOf } from './chart-specs.ts';
import { chartCsv, columnsOf } from './chart-table.ts';
import { OwnScale, OwnSmoothing } from './charts.tsx';
import { type CompareQuantity, compareQuantities } from './compare-numbers.ts';
import { Icon } from './icons.tsx';
import { valueText } from './numbers.ts';
import { NumbersDialog } from './numbers-dialog.tsx';
import { axisUnits, OverAxis } from './over-axis.tsx';
import { type Drawing, drawingOf, placesOfAll } from './overlay-lines.ts';
import type { RunView } from './run-view.ts';
import { SavePlot } from './save-plot.tsx';
import { axisEnd } from './series.ts';
import { acrossPlaces, acrossSteps, type StepAxis } from './step-axis.ts';
import { dispatch, useLab } from './store.ts';
import { charts, overlay as say } from './strings.ts';

const Plot = lazy(() => import('./plot.tsx').then((module) => ({ default: module.Plot })));

type Range = readonly [from: number, to: number];

export function Overlay({ runs }: { runs: readonly RunView[] }) {
  const { quantity, grouped } = useLab((state) => state.comparing);
  const { axis: wished, log } = useLab((state) => state.reading);
  const smoothing = useLab((state) => smoothingOf(state.reading, quantity));
  const { scale } = scaleOf(
    quantity,
    useLab((state) => state.reading.own[quantity]),
  );
  const [hovered, setHovered] = useState<string | null>(null);
  const [held, setHeld] = useState<string | null>(null);
  const [table, setTable] = useState(false);
  const box = useRef<HTMLElement>(null);
  const places = useMemo(() => placesOfAll(runs, wished), [runs, wished]);
  const axis = places ? wished : 'step';
  const [range, zoom] = useZoom(axis);
  const drawing = useMemo(
    () => drawingOf(runs, { quantity, grouped, past: smoothing, places }),
    [runs, quantity, grouped, smoothing, places],
  );
  const last = Math.max(1, ...runs.map(({ steps }) => steps.length));
  const limit = Math.max(...runs.map(({ started }) => started.manifest.settings.step_limit));
  const across = useMemo(() => {
    if (axis !== 'step')
      return acrossPlaces(
        drawing.points.map(({ t }) => t ?? 0),
        range,
        log,
      );
    const [start, end] = range ?? [0, axisEnd(last, limit)];
    return acrossSteps(null, start, end, log);
  }, [axis, drawing, range, log, last, limit]);
  const title = compareQuantities[quantity];
  const standsOut =
    [hovered, held].find((label) => drawing.lines.some((line) => line.label === label)) ?? null;
  return (
    <section className="compare-part" aria-labelledby="overlay-title">
      <div className="compare-bar">
        <h3 id="overlay-title">{say.title}</h3>
        <select
          aria-label={say.quantity}
          value={quantity}
          onChange={(event) => {
            const chosen = quantities.find((one) => one === event.target.value);
            if (chosen) dispatch({ type: 'compare_quantity', quantity: chosen });
          }}
        >
          {quantities.map((one) => (
            <option key={one} value={one}>
              {compareQuantities[one]}
            </option>
          ))}
        </select>
        <label className="check" data-tip={say.groupHelp}>
          <input
            type="checkbox"
            checked={grouped}
            onChange={(event) => dispatch({ type: 'compare_grouped', on: event.target.checked })}
          />
          {say.groupMethod}
        </label>
        <OwnSmoothing kind={quantity} />
        <OwnScale kind={quantity} />
        <OverAxis missing={axis !== wished} />
        {range && (
          <button type="button" className="button bare small" onClick={() => zoom(null)}>
            {say.showAll}
          </button>
        )}
        <SavePlot
          name={`compare-${quantity}`}
          title={title}
          lines={drawing.lines}
          plot={box}
          drawn={drawing.points.length > 0}
          csv={() => chartCsv(axis, columnsOf(drawing.lines, drawing.bands), drawing.points)}
        />
        <button
          type="button"
          className="button bare iconic small"
          aria-label={charts.table(title)}
          data-tip={charts.tableHelp}
          onClick={() => setTable(true)}
        >
          <Icon name="table" />
        </button>
      </div>
      <p className="chart-legend overlay-legend">
        {drawing.lines
          .filter((line) => !line.faint)
          .map((line) => (
            <button
              key={line.key}
              type="button"
              className="overlay-key"
              data-tip={say.only}
              aria-pressed={held === line.label}
              onPointerEnter={() => setHovered(line.label)}
              onPointerLeave={() => setHovered(null)}
              onClick={() => setHeld(held === line.label ? null : line.label)}
            >
              <span className={`key key-${line.series} ${line.shape}`} aria-hidden="true" />
              {line.label}
            </button>
          ))}
      </p>
      <figure ref={box} className="overlay-plot" aria-label={`${title}: ${summaryText(drawing)}`}>
        {drawing.points.length > 0 && (
          <span className="chart-axis" aria-hidden="true">
            {axisUnits[axis]}
          </span>
        )}
        {drawing.points.length === 0 ? (
          <p className="chart-empty">{say.empty}</p>
        ) : (
          <Suspense fallback={<p className="chart-empty">{say.drawing}</p>}>
            <Plot
              lines={drawing.lines}
              bands={drawing.bands}
              limits={[]}
              points={drawing.points}
              scale={scale}
              across={across}
              parts={5}
              nameOf={say.placeOn[axis]}
              onRange={zoom}
              onStep={nothing}
              only={standsOut}
            />
          </Suspense>
        )}
      </figure>
      {table && (
        <NumbersDialog
          name={`compare-${quantity}`}
          title={title}
          across={axisUnits[axis]}
          lines={drawing.lines}
          bands={drawing.bands}
          points={drawing.points}
          plot={box}
          drawn={drawing.points.length > 0}
          onClose={() => setTable(false)}
        />
      )}
    </section>
  );
}

const quantities = Object.keys(compareQuantities) as readonly CompareQuantity[]; // keys of the table itself

/** A step of several runs is no step on screen. */
const nothing = () => {};

/** The part of the axis that is shown: of steps the one of all charts, of another axis the own one. */
function useZoom(axis: StepAxis): readonly [Range | null, (range: Range | null) => void] {
  const steps = useLab((state) => state.reading.range);
  const [own, setOwn] = useState<{ readonly axis: StepAxis; readonly range: Range } | null>(null);
  const zoom = useCallback(
    (range: Range | null) => {
      if (axis === 'step') dispatch({ type: 'range', range });
      else setOwn(range && { axis, range: range[0] < range[1] ? range : [range[1], range[0]] });
    },
    [axis],
  );
  return [axis === 'step' ? steps : own?.axis === axis ? own.range : null, zoom];
}

/** The last value of each line, for those who do not see the lines. */
function summaryText({ lines, points }: Drawing): string {
  return lines
    .filter((line) => !line.faint)
    .map(({ key, label }) => {
      const last = points.findLast((point) => typeof point[key] === 'number');
      return say.ends(label, last ? valueText(last[key]) : say.noValue);
    })
    .join('; ');
}
