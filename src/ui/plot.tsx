/** One chart over steps, drawn by recharts. Knows lines, limits and the chosen step; not what they mean. */

import { memo, useMemo, useState } from 'react';
import {
  Area,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceArea,
  ReferenceLine,
  ResponsiveContainer,
  Scatter,
  Symbols,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { drawnPoints } from './drawn-points.ts';
import { valueText } from './numbers.ts';
import { type AxisWish, axisOf, extremesOf } from './series.ts';
import { type AcrossAxis, logTicks, placeOf, stepAt } from './step-axis.ts';
import { dispatch } from './store.ts';
import { plot as say } from './strings.ts';

export interface PlotLine {
  readonly key: string;
  readonly label: string;
  readonly series: Series;
  readonly shape: 'line' | 'dotted-line' | 'dashed' | 'marks' | 'stairs' | 'dashed-stairs';
  /** Drawn behind and pale: the raw line under a smoothed one. */
  readonly faint?: boolean;
}

/** One of the eight colours of lines. */
export type Series = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** An area between two values of each point. */
export interface PlotBand {
  readonly low: string;
  readonly high: string;
  readonly series: Series;
  /** Of the line that it belongs to. */
  readonly label: string;
}
export interface PlotLimit {
  readonly y: number;
  readonly label: string;
}

interface PlotProps {
  readonly lines: readonly PlotLine[];
  readonly limits: readonly PlotLimit[];
  readonly points: readonly Readonly<Record<string, number | null>>[];
  readonly scale: AxisWish['kind'];
  readonly across: AcrossAxis;
  /** What a place on that axis is called. */
  readonly nameOf?: (place: number) => string;
  /** A drag from one place to another; null is the wish to see all again. */
  readonly onRange?: (range: readonly [from: number, to: number] | null) => void;
  readonly onStep?: (step: number) => void;
  readonly bands?: readonly PlotBand[];
  /** Of how many parts its value axis is; unless said, of as many as one of four charts on this screen has room for. */
  readonly parts?: number;
  /** The label of the one line that stands out; the others step back. */
  readonly only?: string | null;
}

const noBands: readonly PlotBand[] = [];

/** The room around the plot area, in pixels: nothing but ticks is drawn there. */
const plotRoom = { left: 42, right: 16 };

/** Marks at the last step would be cut at the edge of the plot area. */
const edge = 6;

/** More points than this run into each other, if each has a mark of full size. */
const wellApart = 60;

const tick = { fontSize: 11, fill: 'var(--ink-3)' };

export const Plot = memo(function Plot({
  lines,
  limits,
  points,
  scale,
  across,
  nameOf = say.step,
  onRange = toRange,
  onStep = toStep,
  bands = noBands,
  parts = window.innerHeight >= 900 ? 4 : 2,
  only = null,
}: PlotProps) {
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const crowded = points.length > wellApart;
  // Over all values: an axis does not change with what is left out of the drawing.
  const axis = useMemo(
    () =>
      axisOf(scale === 'log' ? nearFirst(points, lines) : valuesOf(points, lines), {
        kind: scale,
        limits: limits.map((limit) => limit.y),
        parts,
      }),
    [points, lines, limits, scale, parts],
  );
  const { low, high, places, counted } = across;
  const drawn = useMemo(
    () =>
      drawnPoints(
        drawable(points, across, scale),
        lines.map(({ key }) => key),
        across.low,
        across.high,
      ),
    [points, across, scale, lines],
  );
  /** What is meant by a place: the step at it, where the axis knows of steps. */
  const meant = (label: string | number | undefined) =>
    places ? stepAt(places, Number(label)) : Number(label);
  return (
    <ResponsiveContainer width="100%" height="100%" debounce={60}>
      <ComposedChart
        data={[...drawn]}
        margin={{ top: 6, right: plotRoom.right - edge, bottom: 0, left: 0 }}
        onMouseDown={({ activeLabel }) => {
          const at = meant(activeLabel);
          if (activeLabel !== undefined && Number.isFinite(at)) setDrag({ from: at, to: at });
        }}
        onMouseMove={({ activeLabel }) => {
          const at = meant(activeLabel);
          if (drag && activeLabel !== undefined && at !== drag.to) setDrag({ ...drag, to: at });
        }}
        onMouseLeave={() => setDrag(null)}
        onMouseUp={() => {
          setDrag(null);
          if (!drag) return;
          if (drag.from !== drag.to) onRange([drag.from, drag.to]);
          else if (drag.to > 0) onStep(drag.to);
        }}
        onDoubleClick={() => onRange(null)}
      >
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="t"
          type="number"
          scale={across.log ? 'log' : 'linear'}
          domain={[low, high]}
          {...(across.log && { ticks: [...logTicks(across)] })}
          allowDataOverflow={drawn.some(({ t }) => (t ?? 0) < low || (t ?? 0) > high)}
          allowDecimals={!counted && high - low < 5}
          tickFormatter={counted ? String : valueText}
          padding={{ right: edge }}
          tickCount={6}
          tick={tick}
          tickLine={false}
          axisLine={{ stroke: 'var(--line-strong)' }}
          height={20}
        />
        <YAxis
          scale={scale === 'log' ? 'log' : 'linear'}
          domain={[axis.low, axis.high]}
          allowDataOverflow={scale === 'log'}
          ticks={[...axis.ticks]}
          interval={0}
          tickFormatter={(value: number) => (scale === 'log' ? powerText(value) : valueText(value))}
          tick={tick}
          tickLine={false}
          axisLine={false}
          width={plotRoom.left}
        />
        <Tooltip
          isAnimationActive={false}
          cursor={{ stroke: 'var(--line-strong)' }}
          content={({ active, payload, label }) =>
            active && payload.length > 0 ? (
              <div className="chart-tip">
                <strong>{nameOf(meant(label))}</strong>
                {lines
                  .filter((line) => !line.faint)
                  .map((line) => {
                    const item = payload.find((one) => one.dataKey === line.key);
                    return typeof item?.value === 'number' ? (
                      <span key={line.key}>
                        {line.label} {valueText(item.value)}
                      </span>
                    ) : null;
                  })}
              </div>
            ) : null
          }
        />
        {drag && drag.from !== drag.to && (
          <ReferenceArea
            x1={places ? placeOf(places, drag.from) : drag.from}
            x2={places ? placeOf(places, drag.to) : drag.to}
            fill="var(--accent)"
            fillOpacity={0.12}
          />
        )}
        {bands.map((band) => (
          <Area
            key={band.low}
            dataKey={(point: Readonly<Record<string, number | null>>) => {
              const high = point[band.high] ?? null;
              // What reaches below a log axis begins at its end.
              return [point[band.low] ?? (high === null ? null : axis.low), high];
            }}
            stroke="none"
            fill={`var(--series-${band.series})`}
            fillOpacity={only === null || only === band.label ? 0.16 : 0.04}
            connectNulls
            tooltipType="none"
            activeDot={false}
            isAnimationActive={false}
          />
        ))}
        {limits.map((limit) => (
          <ReferenceLine
            key={limit.label}
            y={limit.y}
            stroke="var(--bad)"
            strokeDasharray="2 3"
            strokeWidth={1.2}
            ifOverflow="hidden"
          />
        ))}
        {lines.map((line) =>
          line.shape === 'marks' ? (
            <Scatter
              key={line.key}
              dataKey={line.key}
              fill={`var(--series-${line.series})`}
              shape={crowded ? <Symbols type="diamond" size={14} /> : 'diamond'}
              isAnimationActive={false}
            />
          ) : (
            <Line
              key={line.key}
              dataKey={line.key}
              type={line.shape.endsWith('stairs') ? 'stepAfter' : 'linear'}
              stroke={`var(--series-${line.series})`}
              strokeWidth={line.faint ? 1 : only === line.label ? 2.6 : 1.6}
              strokeOpacity={opacityOf(line, only)}
              {...(line.shape.startsWith('dashed') ? { strokeDasharray: '5 3' } : {})}
              dot={
                !crowded && !line.faint && (line.shape === 'dotted-line' || line.shape === 'dashed')
                  ? {
                      r: 2.2,
                      strokeDasharray: 'none',
                      fill: `var(--series-${line.series})`,
                      strokeWidth: 0,
                    }
                  : false
              }
              activeDot={line.faint ? false : { r: 3.5, strokeWidth: 0 }}
              connectNulls
              isAnimationActive={false}
            />
          ),
        )}
      </ComposedChart>
    </ResponsiveContainer>
  );
});

/** The points at their places; a log axis has none for 0, so nothing is drawn there. */
function drawable(
  points: PlotProps['points'],
  { places, log }: AcrossAxis,
  scale: AxisWish['kind'],
): PlotProps['points'] {
  let drawn = points;
  if (scale === 'log') {
    drawn = drawn.map((point) =>
      Object.fromEntries(
        Object.entries(point).map(([key, value]) => [
          key,
          key === 't' || (value !== null && value > 0) ? value : null,
        ]),
      ),
    );
  }
  if (places) drawn = drawn.map((point) => ({ ...point, t: placeOf(places, point.t ?? 0) }));
  return log ? drawn.filter(({ t }) => (t ?? 0) > 0) : drawn;
}

function toRange(range: readonly [from: number, to: number] | null): void {
  dispatch({ type: 'range', range });
}

function toStep(t: number): void {
  dispatch({ type: 'step_selected', t });
}

function opacityOf(line: PlotLine, only: string | null): number {
  if (only !== null && only !== line.label) return 0.12;
  return line.faint ? 0.3 : 1;
}

/** A second line that is this much below the first leaves a log axis instead of squeezing it. */
const farBelow = 0.01;

function nearFirst(
  points: PlotProps['points'],
  lines: readonly PlotLine[],
): readonly (number | null)[] {
  const first = valuesOf(points, lines.slice(0, 1)).flatMap((value) =>
    value !== null && value > 0 ? [value] : [],
  );
  const least = farBelow * extremesOf(first).low;
  return valuesOf(points, lines).filter((value) => value !== null && value >= least);
}

function valuesOf(
  points: PlotProps['points'],
  lines: readonly PlotLine[],
): readonly (number | null)[] {
  return points.flatMap((point) => lines.map((line) => point[line.key] ?? null));
}

/** Powers of ten: `0.01`, but `10⁻⁵` where zeros would have to be counted. */
function powerText(value: number): string {
  const power = Math.round(Math.log10(value));
  if (power >= -3 && power <= 4) return String(Number(value.toPrecision(2)));
  const digits = [...String(Math.abs(power))].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
  return `10${power < 0 ? '⁻' : ''}${digits}`;
}
