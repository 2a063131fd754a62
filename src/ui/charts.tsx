/** The charts of a run over its steps: four at a time, of those that chart-specs.ts names. */

import {
  type CSSProperties,
  lazy,
  memo,
  Suspense,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { type ChartKind, chartKinds, mostSmoothing, smoothingOf } from './chart-choices.ts';
import { type ChartSpec, chartSpec, chartTitle, scaleOf, smoothedSpec } from './chart-specs.ts';
import { EnlargeButton } from './enlarge-button.tsx';
import { Icon } from './icons.tsx';
import { valueText } from './numbers.ts';
import { NumbersDialog } from './numbers-dialog.tsx';
import { axisUnits, OverAxis } from './over-axis.tsx';
import type { RunView } from './run-view.ts';
import { axisEnd, summaryOf } from './series.ts';
import { shownStep } from './state.ts';
import { type AcrossAxis, acrossSteps, along, placeOf, placesOf } from './step-axis.ts';
import { dispatch, useLab } from './store.ts';
import { charts as say } from './strings.ts';
import { Term } from './tip.tsx';
import './charts.css';

/** The chart library is fetched when the first run is shown. */
const Plot = lazy(() => import('./plot.tsx').then((module) => ({ default: module.Plot })));

/** The charts draw at most four times a second. */
const drawEveryMs = 250;
/**
 * A chart takes 10 to 15 ms of the page thread: each draws in a frame of its own, and the library wants
 * the one after it, for what it gathers until then.
 */
const framesPerChart = 2;

export function Charts({ run: latest }: { run: RunView }) {
  const run = useSlower(latest);
  const { charts, range, smoothing, own, axis, log } = useLab((state) => state.reading);
  const { settings } = run.started.manifest;
  const specs = useMemo(
    () =>
      charts.map((kind) => {
        const past = smoothingOf({ smoothing, own }, kind);
        return smoothedSpec(chartSpec(run, kind), past);
      }),
    [run, charts, smoothing, own],
  );
  const places = useMemo(() => (axis === 'step' ? null : placesOf(run, axis)), [run, axis]);
  const whole = axisEnd(run.steps.at(-1)?.t ?? 0, settings.step_limit);
  const [start, end] = range ?? [0, whole];
  const across = useMemo(() => acrossSteps(places, start, end, log), [places, start, end, log]);
  const views = useMemo(
    () => specs.map((spec) => ({ spec, start, end, across })),
    [specs, start, end, across],
  );
  return (
    <section className="charts-panel" aria-label={say.charts}>
      <div className="charts-bar">
        <Smoothing />
        <OverAxis missing={axis !== 'step' && places === null} />
        {range ? (
          <button
            type="button"
            className="button bare small"
            onClick={() => dispatch({ type: 'range', range: null })}
          >
            {say.showAllSteps(start, end)}
          </button>
        ) : (
          <span className="aside">{say.zoomHint}</span>
        )}
        <EnlargeButton panel="charts" />
      </div>
      <div className="charts">
        {views.map((view, index) => (
          <Chart key={index} place={index} view={view} />
        ))}
      </div>
    </section>
  );
}

/** How strongly the lines of all charts are smoothed. */
function Smoothing() {
  const smoothing = useLab((state) => state.reading.smoothing);
  return (
    <SmoothingRange
      value={smoothing}
      onChange={(value) => dispatch({ type: 'smoothing', smoothing: value })}
    />
  );
}

/** The same of one chart, which may have its own. */
export function OwnSmoothing({ kind }: { kind: ChartKind }) {
  const value = useLab((state) => smoothingOf(state.reading, kind));
  const isOwn = useLab((state) => state.reading.own[kind]?.smoothing !== undefined);
  const choose = (smoothing: number | undefined) =>
    dispatch({ type: 'own_choice', kind, choice: { smoothing } });
  return (
    <span className="smoothing">
      <SmoothingRange value={value} onChange={choose} />
      {isOwn && (
        <button type="button" className="link" onClick={() => choose(undefined)}>
          {say.asAll}
        </button>
      )}
    </span>
  );
}

/** Whether the values of one chart are drawn on a logarithmic axis; nothing where they cannot be. */
export function OwnScale({ kind }: { kind: ChartKind }) {
  const own = useLab((state) => state.reading.own[kind]);
  const { scale, canBeLog } = scaleOf(kind, own);
  if (!canBeLog) return null;
  return (
    <button
      type="button"
      className="button bare small"
      aria-pressed={scale === 'log'}
      aria-label={say.logAxis(chartTitle(kind))}
      data-tip={say.logAxisHelp}
      onClick={() =>
        dispatch({
          type: 'own_choice',
          kind,
          choice: { scale: scale === 'log' ? 'linear' : 'log' },
        })
      }
    >
      {scale === 'log' ? say.log : say.linear}
    </button>
  );
}

function SmoothingRange({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  return (
    <label className="smoothing" data-tip={say.smoothingHelp}>
      {say.smoothing}
      <input
        type="range"
        min={0}
        max={mostSmoothing}
        step={0.02}
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
      />
      <output>{value === 0 ? say.off : value.toFixed(2)}</output>
    </label>
  );
}

/** The step on screen is drawn over it, so that moving along the steps draws no chart again. */
const Chart = memo(function Chart({
  place,
  view,
}: {
  place: number;
  view: {
    readonly spec: ChartSpec;
    readonly start: number;
    readonly end: number;
    readonly across: AcrossAxis;
  };
}) {
  const late = useTurn(view, place * framesPerChart);
  // Another quantity shows at once; new values of the same one take their turn.
  const { spec, start, end, across } = late.spec.kind === view.spec.kind ? late : view;
  const shown = spec.lines.filter((line) => !line.faint);
  const plot = useRef<HTMLDivElement>(null);
  const [table, setTable] = useState(false);
  const [choosing, setChoosing] = useState(false);
  const own = useLab((state) => state.reading.own[spec.kind]);
  const axis = useLab((state) => (across.places ? state.reading.axis : 'step'));
  const { scale } = scaleOf(spec.kind, own);
  const empty = spec.points.every((point) =>
    spec.lines.every(({ key }) => (point[key] ?? null) === null),
  );
  return (
    <figure className="chart" aria-label={spec.title}>
      <div className="chart-head">
        <h3 className="unseen">{spec.title}</h3>
        <select
          className="chart-kind"
          aria-label={say.chartShows(place + 1)}
          value={spec.kind}
          onChange={(event) => {
            const kind = chartKinds.find((one) => one === event.target.value);
            if (kind) dispatch({ type: 'chart', place, kind });
          }}
        >
          {chartKinds.map((kind) => (
            <option key={kind} value={kind}>
              {chartTitle(kind)}
            </option>
          ))}
        </select>
        <span className="chart-unit">
          <span>{spec.unit}</span>
        </span>
        <button
          type="button"
          className="button bare iconic small"
          aria-expanded={choosing}
          aria-label={say.own(spec.title)}
          data-tip={say.ownHelp}
          data-own={own !== undefined || undefined}
          onClick={() => setChoosing(!choosing)}
        >
          <Icon name="wave" />
        </button>
        <button
          type="button"
          className="button bare iconic small"
          aria-label={say.table(spec.title)}
          data-tip={say.tableHelp}
          onClick={() => setTable(true)}
        >
          <Icon name="table" />
        </button>
      </div>
      {choosing && (
        <div className="chart-choices">
          <OwnSmoothing kind={spec.kind} />
          <OwnScale kind={spec.kind} />
        </div>
      )}
      <p className="chart-legend">
        {shown.map((line) => (
          <span key={line.key}>
            <span className={`key key-${line.series} ${line.shape}`} aria-hidden="true" />
            <Term name={line.term}>{line.label}</Term>{' '}
            <Reading points={spec.points} name={line.key} />
          </span>
        ))}
        {spec.limits.map((limit) => (
          <span key={limit.label}>
            <span className="key limit" aria-hidden="true" />
            {limit.label} <strong>{valueText(limit.y)}</strong>
          </span>
        ))}
      </p>
      <div className="chart-plot" ref={plot}>
        <span className="chart-axis" aria-hidden="true">
          {axisUnits[axis]}
        </span>
        {empty ? (
          <p className="chart-empty">{say.empty}</p>
        ) : (
          <Suspense fallback={<p className="chart-empty">{say.drawing}</p>}>
            <Plot
              lines={spec.lines}
              limits={spec.limits}
              points={spec.points}
              scale={scale}
              across={across}
            />
          </Suspense>
        )}
        {!empty && <Cursor start={start} end={end} across={across} />}
      </div>
      <figcaption className="unseen">
        {shown
          .map((line) =>
            summaryOf(
              line.label,
              spec.points.map((point) => point[line.key] ?? null),
            ),
          )
          .join(' ')}
      </figcaption>
      {table && (
        <NumbersDialog
          name={spec.title.toLowerCase().replaceAll(' ', '-')}
          title={`${spec.title} (${spec.unit})`}
          across={say.step}
          lines={spec.lines}
          points={spec.points}
          plot={plot}
          drawn={!empty}
          onClose={() => setTable(false)}
        />
      )}
    </figure>
  );
});

/** The value of a line at the step on screen. */
function Reading({ points, name }: { points: ChartSpec['points']; name: string }) {
  const text = useLab((state) => valueText(valueAt(points, name, shownStep(state))));
  return <strong>{text}</strong>;
}

/** Where the step on screen is, over the chart. */
function Cursor({ start, end, across }: { start: number; end: number; across: AcrossAxis }) {
  const t = useLab(shownStep);
  if (t === 0 || t < start || t > end) return null;
  const at = along(across, across.places ? placeOf(across.places, t) : t);
  return <span className="chart-cursor" style={{ '--at': at } as CSSProperties} />;
}

/** The value on screen at step t: the newest at or before it. */
function valueAt(points: ChartSpec['points'], key: string, t: number): number | null {
  const found = points.findLast((point) => (point.t ?? 0) <= t && (point[key] ?? null) !== null);
  return found?.[key] ?? null;
}

/** The value as it was, until so many animation frames after a change. */
function useTurn<T>(value: T, frames: number): T {
  const [shown, setShown] = useState(value);
  useEffect(() => {
    let request = 0;
    const wait = (left: number) => {
      if (left === 0) setShown(value);
      else request = requestAnimationFrame(() => wait(left - 1));
    };
    wait(frames);
    return () => cancelAnimationFrame(request);
  }, [value, frames]);
  return shown;
}

/** The value, but at most one change in {@link drawEveryMs}; another run shows at once. */
function useSlower(run: RunView): RunView {
  const [shown, setShown] = useState(run);
  const drawnAt = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, drawnAt.current + drawEveryMs - performance.now());
    const timer = setTimeout(() => {
      drawnAt.current = performance.now();
      setShown(run);
    }, wait);
    return () => clearTimeout(timer);
  }, [run]);
  return shown.started === run.started ? shown : run;
}
