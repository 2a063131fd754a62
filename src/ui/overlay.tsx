/** One quantity of all chosen runs in one chart: a line a run, or a line a method with its interval. */

import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { smoothingOf } from './chart-choices.ts';
import type { Points } from './chart-specs.ts';
import { OwnSmoothing } from './charts.tsx';
import {
  byMethod,
  type CompareQuantity,
  compareQuantities,
  meanLine,
  valuesOf,
} from './compare-numbers.ts';
import { csvOf } from './csv.ts';
import type { PlotBand, PlotLine } from './plot.tsx';
import { seriesOf } from './run-table.tsx';
import type { RunView } from './run-view.ts';
import { SavePlot } from './save-plot.tsx';
import { axisEnd, decimate, smoothed } from './series.ts';
import { dispatch, useLab } from './store.ts';
import { overlay as say } from './strings.ts';

const Plot = lazy(() => import('./plot.tsx').then((module) => ({ default: module.Plot })));

interface Drawing {
  readonly lines: readonly PlotLine[];
  readonly bands: readonly PlotBand[];
  readonly points: Points;
}

export function Overlay({ runs }: { runs: readonly RunView[] }) {
  const { quantity, grouped } = useLab((state) => state.comparing);
  const range = useLab((state) => state.reading.range);
  const smoothing = useLab((state) => smoothingOf(state.reading, quantity));
  const [hovered, setHovered] = useState<string | null>(null);
  const [held, setHeld] = useState<string | null>(null);
  const box = useRef<HTMLElement>(null);
  const drawing = useMemo(
    () => (grouped ? ofGroups(runs, quantity, smoothing) : ofRuns(runs, quantity, smoothing)),
    [runs, quantity, grouped, smoothing],
  );
  const last = Math.max(1, ...runs.map(({ steps }) => steps.length));
  const limit = Math.max(...runs.map(({ started }) => started.manifest.settings.step_limit));
  const [start, end] = range ?? [0, axisEnd(last, limit)];
  const title = compareQuantities[quantity];
  const standsOut =
    [hovered, held].find((label) => drawing.lines.some((line) => line.label === label)) ?? null;
  const csv = csvOf([
    ['step', ...drawing.lines.map(({ label, faint }) => (faint ? `${label} raw` : label))],
    ...drawing.points.map((point) => [
      point.t ?? null,
      ...drawing.lines.map(({ key }) => point[key] ?? null),
    ]),
  ]);
  return (
    <section className="compare-part" aria-labelledby="overlay-title">
      <div className="compare-bar">
        <h3 id="overlay-title">{say.overSteps}</h3>
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
        <SavePlot
          name={`compare-${quantity}`}
          title={title}
          lines={drawing.lines}
          plot={box}
          drawn={drawing.points.length > 0}
          csv={csv}
        />
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
        {drawing.points.length === 0 ? (
          <p className="chart-empty">{say.empty}</p>
        ) : (
          <Suspense fallback={<p className="chart-empty">{say.drawing}</p>}>
            <Plot
              lines={drawing.lines}
              bands={drawing.bands}
              limits={[]}
              points={drawing.points}
              scale={quantity === 'repetition' || quantity === 'novelty' ? 'unit' : 'linear'}
              start={start}
              end={end}
              only={standsOut}
            />
          </Suspense>
        )}
      </figure>
    </section>
  );
}

const quantities = Object.keys(compareQuantities) as readonly CompareQuantity[]; // keys of the table itself

/** After the eight colours the same ones come again, dashed. */
function shapeOf(index: number, quantity: CompareQuantity): PlotLine['shape'] {
  const stairs = quantity === 'updates' || quantity === 'reward';
  if (index < 8) return stairs ? 'stairs' : 'line';
  return stairs ? 'dashed-stairs' : 'dashed';
}

function ofRuns(runs: readonly RunView[], quantity: CompareQuantity, past: number): Drawing {
  const rows = new Map<number, Record<string, number | null>>();
  const put = (t: number, key: string, value: number | null) => {
    rows.set(t, { ...(rows.get(t) ?? { t }), [key]: value });
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
    values.forEach(({ t, value }, place) => {
      put(t, `run ${index}`, smooth[place] ?? null);
      if (past > 0) put(t, `raw ${index}`, value);
    });
  });
  return { lines, bands: [], points: inOrder(rows) };
}

/** The interval is that of the means as they are: smoothing would make it narrower than it is. */
function ofGroups(runs: readonly RunView[], quantity: CompareQuantity, past: number): Drawing {
  const rows = new Map<number, Record<string, number | null>>();
  const lines: PlotLine[] = [];
  const bands: PlotBand[] = [];
  byMethod(runs).forEach((group, index) => {
    const series = seriesOf(index);
    const [key, raw] = [`mean ${index}`, `raw ${index}`];
    const [low, high] = [`low ${index}`, `high ${index}`];
    const label = `${group.name} (n = ${group.runs.length})`;
    const line = { label, series, shape: shapeOf(index, quantity) };
    if (past > 0) lines.push({ ...line, key: raw, faint: true });
    lines.push({ ...line, key });
    bands.push({ low, high, series, label });
    const points = meanLine(group.runs, quantity);
    const smooth = smoothed(
      points.map((point) => point.mean),
      past,
    );
    points.forEach((point, place) => {
      rows.set(point.t, {
        ...(rows.get(point.t) ?? { t: point.t }),
        [key]: smooth[place] ?? null,
        ...(past > 0 && { [raw]: point.mean }),
        [low]: point.interval?.low ?? null,
        [high]: point.interval?.high ?? null,
      });
    });
  });
  return { lines, bands, points: inOrder(rows) };
}

function inOrder(rows: ReadonlyMap<number, Record<string, number | null>>): Points {
  return decimate([...rows.values()].sort((a, b) => (a.t ?? 0) - (b.t ?? 0)));
}

/** The last value of each line, for those who do not see the lines. */
function summaryText({ lines, points }: Drawing): string {
  return lines
    .filter((line) => !line.faint)
    .map(({ key, label }) => {
      const last = points.findLast((point) => typeof point[key] === 'number');
      const end = last?.[key]?.toPrecision(3) ?? say.noValue;
      return say.ends(label, end);
    })
    .join('; ');
}
