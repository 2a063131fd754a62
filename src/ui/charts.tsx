/** The charts of a run: repetition, KL, loss, updates and rollbacks over steps, with their limits. */

import { type CSSProperties, lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { saveText } from './actions.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { valueText } from './numbers.ts';
import type { PlotLimit, PlotLine } from './plot.tsx';
import type { RunView } from './run-view.ts';
import {
  type AxisWish,
  axisEnd,
  countSeries,
  klSeries,
  lossSeries,
  repetitionSeries,
  summaryOf,
} from './series.ts';
import { shownStep } from './state.ts';
import { useLab } from './store.ts';
import type { TermName } from './terms.ts';
import { Term } from './tip.tsx';
import './charts.css';

/** The chart library is fetched when the first run is shown. */
const Plot = lazy(() => import('./plot.tsx').then((module) => ({ default: module.Plot })));

/** The charts draw at most four times a second. */
const drawEveryMs = 250;
/** One after the other: all four in one go would hold the page for a moment at each step. */
const turnMs = 40;

interface ChartSpec {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly (PlotLine & { readonly term: TermName })[];
  readonly limits: readonly PlotLimit[];
  readonly points: readonly Readonly<Record<string, number | null>>[];
  readonly scale: AxisWish['kind'];
}

export function Charts({ run: latest }: { run: RunView }) {
  const run = useSlower(latest);
  const t = useLab(shownStep);
  const { settings } = run.started.manifest;
  const specs = useMemo(() => specsOf(run), [run]);
  const end = axisEnd(run.steps.at(-1)?.t ?? 0, settings.step_limit);
  return (
    <section className="charts" aria-label="Charts">
      {specs.map((spec, index) => (
        <Chart key={spec.title} spec={spec} t={t} end={end} later={index * turnMs} />
      ))}
    </section>
  );
}

function specsOf(run: RunView): readonly ChartSpec[] {
  const { settings } = run.started.manifest;
  const points = (list: readonly object[]) =>
    list as readonly Readonly<Record<string, number | null>>[]; // the series are flat records of numbers
  return [
    {
      title: 'Repetition',
      unit: 'Jaccard, 0 to 1',
      lines: [
        { key: 'repetition', label: 'step', term: 'repetition', series: 1, shape: 'line' },
        { key: 'ratio', label: 'r_k', term: 'ratio', series: 2, shape: 'marks' },
      ],
      limits: [{ y: settings.repetition_ratio_limit, label: 'r_k limit' }],
      points: points(repetitionSeries(run)),
      scale: 'unit',
    },
    {
      title: 'Drift',
      unit: 'KL to the episode start, nats',
      lines: [
        { key: 'kl', label: 'KL', term: 'kl', series: 1, shape: 'dotted-line' },
        { key: 'klInContext', label: 'in context', term: 'kl_context', series: 4, shape: 'dashed' },
      ],
      limits: [{ y: settings.kl_divergence_limit, label: 'KL limit' }],
      points: points(klSeries(run)),
      scale: 'log',
    },
    {
      title: 'Update loss',
      unit: 'nats per token',
      lines: [
        { key: 'before', label: 'before', term: 'loss', series: 2, shape: 'dashed' },
        { key: 'after', label: 'after', term: 'loss', series: 1, shape: 'dotted-line' },
      ],
      limits: [],
      points: points(lossSeries(run)),
      scale: 'linear',
    },
    {
      title: 'Updates and rollbacks',
      unit: 'so far',
      lines: [
        { key: 'updates', label: 'updates', term: 'update', series: 3, shape: 'stairs' },
        {
          key: 'rollbacks',
          label: 'rollbacks',
          term: 'rollback',
          series: 2,
          shape: 'dashed-stairs',
        },
      ],
      limits: [],
      points: points(countSeries(run)),
      scale: 'count',
    },
  ];
}

function Chart({
  spec: latest,
  t,
  end,
  later,
}: {
  spec: ChartSpec;
  t: number;
  end: number;
  later: number;
}) {
  const spec = useLater(latest, later);
  const [table, setTable] = useState(false);
  const [linear, setLinear] = useState(false);
  const empty = spec.points.every((point) =>
    spec.lines.every(({ key }) => (point[key] ?? null) === null),
  );
  return (
    <figure className="chart" aria-label={spec.title}>
      <div className="chart-head">
        <h3>{spec.title}</h3>
        <span className="chart-unit">{spec.unit}</span>
        {spec.scale === 'log' && (
          <button
            type="button"
            className="button bare small"
            aria-pressed={!linear}
            aria-label={`${spec.title}: logarithmic axis`}
            data-tip="A logarithmic axis shows small drifts and the limit together; a linear one shows how far the limit is."
            onClick={() => setLinear(!linear)}
          >
            {linear ? 'linear' : 'log'}
          </button>
        )}
        <button
          type="button"
          className="button bare iconic small"
          aria-label={`${spec.title}: numbers as a table`}
          data-tip="The numbers as a table, to copy or save."
          onClick={() => setTable(true)}
        >
          <Icon name="table" />
        </button>
      </div>
      <p className="chart-legend">
        {spec.lines.map((line) => (
          <span key={line.key}>
            <span className={`key key-${line.series} ${line.shape}`} aria-hidden="true" />
            <Term name={line.term}>{line.label}</Term>{' '}
            <strong>{valueText(valueAt(spec.points, line.key, t))}</strong>
          </span>
        ))}
        {spec.limits.map((limit) => (
          <span key={limit.label}>
            <span className="key limit" aria-hidden="true" />
            {limit.label} <strong>{valueText(limit.y)}</strong>
          </span>
        ))}
      </p>
      <div className="chart-plot">
        <span className="chart-axis" aria-hidden="true">
          step
        </span>
        {empty ? (
          <p className="chart-empty">Nothing measured yet.</p>
        ) : (
          <Suspense fallback={<p className="chart-empty">Drawing…</p>}>
            <Plot
              lines={spec.lines}
              limits={spec.limits}
              points={spec.points}
              scale={spec.scale === 'log' && linear ? 'linear' : spec.scale}
              end={end}
            />
          </Suspense>
        )}
        {t > 0 && t <= end && !empty && (
          <span className="chart-cursor" style={{ '--at': t / end } as CSSProperties} />
        )}
      </div>
      <figcaption className="unseen">
        {spec.lines
          .map((line) =>
            summaryOf(
              line.label,
              spec.points.map((point) => point[line.key] ?? null),
            ),
          )
          .join(' ')}
      </figcaption>
      {table && <NumbersDialog spec={spec} onClose={() => setTable(false)} />}
    </figure>
  );
}

/** The value on screen at step t: the newest at or before it. */
function valueAt(points: ChartSpec['points'], key: string, t: number): number | null {
  const found = points.findLast((point) => (point.t ?? 0) <= t && (point[key] ?? null) !== null);
  return found?.[key] ?? null;
}

function NumbersDialog({ spec, onClose }: { spec: ChartSpec; onClose: () => void }) {
  const columns = ['t', ...spec.lines.map((line) => line.key)];
  const csv = [
    ['step', ...spec.lines.map((line) => line.label)].join(','),
    ...spec.points.map((point) => columns.map((key) => point[key] ?? '').join(',')),
  ].join('\n');
  return (
    <Dialog title={`${spec.title}, ${spec.unit}`} onClose={onClose}>
      <div className="dialog-buttons">
        <button
          type="button"
          className="button"
          onClick={() =>
            saveText(`${spec.title.toLowerCase().replaceAll(' ', '-')}.csv`, `${csv}\n`, 'text/csv')
          }
        >
          <Icon name="save" />
          CSV
        </button>
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col" className="number">
              step
            </th>
            {spec.lines.map((line) => (
              <th key={line.key} scope="col" className="number">
                {line.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spec.points.map((point) => (
            <tr key={point.t}>
              {columns.map((key) => (
                <td key={key} className="number">
                  {valueText(point[key])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}

/** The value as it was, until so many milliseconds after a change. */
function useLater<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setShown(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
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
