/** One chart over steps, drawn by recharts. Knows lines, limits and the chosen step; not what they mean. */

import { memo, useState } from 'react';
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
import { valueText } from './numbers.ts';
import { type AxisWish, axisOf } from './series.ts';
import { type Places, placeOf, spanOf, stepAt } from './step-axis.ts';
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
  /** The left and the right end of the step axis. */
  readonly start?: number;
  readonly end: number;
  /** Where steps lie on the axis; null or absent where they are counted. */
  readonly places?: Places | null;
  readonly bands?: readonly PlotBand[];
  /** The label of the one line that stands out; the others step back. */
  readonly only?: string | null;
}

const noBands: readonly PlotBand[] = [];

/** The room around the plot area, in pixels: nothing but ticks is drawn there. */
const plotRoom = { left: 38, right: 16 };

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
  start = 0,
  end,
  places = null,
  bands = noBands,
  only = null,
}: PlotProps) {
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const crowded = points.length > wellApart;
  const axis = axisOf(scale === 'log' ? nearFirst(points, lines) : valuesOf(points, lines), {
    kind: scale,
    limits: limits.map((limit) => limit.y),
    parts: window.innerHeight >= 900 ? 4 : 2,
  });
  // A log axis has no place for 0: nothing is drawn there.
  const positive =
    scale === 'log'
      ? points.map((point) =>
          Object.fromEntries(
            Object.entries(point).map(([key, value]) => [
              key,
              key === 't' || (value !== null && value > 0) ? value : null,
            ]),
          ),
        )
      : points;
  const drawn = places
    ? positive.map((point) => ({ ...point, t: placeOf(places, point.t ?? 0) }))
    : positive;
  const [low, high] = places ? spanOf(places, start, end) : [start, end];
  const toStep = (label: string | number | undefined) =>
    places ? stepAt(places, Number(label)) : Number(label);
  return (
    <ResponsiveContainer width="100%" height="100%" debounce={60}>
      <ComposedChart
        data={[...drawn]}
        margin={{ top: 6, right: plotRoom.right - edge, bottom: 0, left: 0 }}
        onMouseDown={({ activeLabel }) => {
          const at = toStep(activeLabel);
          if (activeLabel !== undefined && Number.isFinite(at)) setDrag({ from: at, to: at });
        }}
        onMouseMove={({ activeLabel }) => {
          const at = toStep(activeLabel);
          if (drag && activeLabel !== undefined && at !== drag.to) setDrag({ ...drag, to: at });
        }}
        onMouseLeave={() => setDrag(null)}
        onMouseUp={() => {
          setDrag(null);
          if (!drag) return;
          if (drag.from !== drag.to) dispatch({ type: 'range', range: [drag.from, drag.to] });
          else if (drag.to > 0) dispatch({ type: 'step_selected', t: drag.to });
        }}
        onDoubleClick={() => dispatch({ type: 'range', range: null })}
      >
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="t"
          type="number"
          domain={[low, high]}
          allowDataOverflow={start > 0 || points.some((point) => (point.t ?? 0) > end)}
          allowDecimals={places !== null && high - low < 5}
          tickFormatter={(value: number) => (places ? valueText(value) : String(value))}
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
                <strong>{say.step(toStep(label))}</strong>
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
            dataKey={(point: Readonly<Record<string, number | null>>) => [
              point[band.low] ?? null,
              point[band.high] ?? null,
            ]}
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
  const first = valuesOf(points, lines.slice(0, 1)).filter((value) => value !== null && value > 0);
  const least = farBelow * Math.min(...first.map(Number));
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
