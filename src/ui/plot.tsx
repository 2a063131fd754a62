/** One chart over steps, drawn by recharts. Knows lines, limits and the chosen step; not what they mean. */

import { memo } from 'react';
import {
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Scatter,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { valueText } from './numbers.ts';
import { type AxisWish, axisOf } from './series.ts';
import { dispatch } from './store.ts';

export interface PlotLine {
  readonly key: string;
  readonly label: string;
  readonly series: 1 | 2 | 3 | 4;
  readonly shape: 'line' | 'dotted-line' | 'dashed' | 'marks' | 'stairs' | 'dashed-stairs';
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
  /** The right end of the step axis. */
  readonly end: number;
}

/** The room around the plot area, in pixels: nothing but ticks is drawn there. */
const plotRoom = { left: 38, right: 16 };

/** Marks at the last step would be cut at the edge of the plot area. */
const edge = 6;

const tick = { fontSize: 11, fill: 'var(--ink-3)' };

export const Plot = memo(function Plot({ lines, limits, points, scale, end }: PlotProps) {
  const axis = axisOf(scale === 'log' ? nearFirst(points, lines) : valuesOf(points, lines), {
    kind: scale,
    limits: limits.map((limit) => limit.y),
    parts: window.innerHeight >= 900 ? 4 : 2,
  });
  // A log axis has no place for 0: nothing is drawn there.
  const drawn =
    scale === 'log'
      ? points.map((point) =>
          Object.fromEntries(
            Object.entries(point).map(([key, value]) => [
              key,
              value !== null && value > 0 ? value : null,
            ]),
          ),
        )
      : points;
  return (
    <ResponsiveContainer width="100%" height="100%" debounce={60}>
      <ComposedChart
        data={[...drawn]}
        margin={{ top: 6, right: plotRoom.right - edge, bottom: 0, left: 0 }}
        onClick={(state) => {
          const label = Number(state.activeLabel);
          if (Number.isFinite(label) && label > 0) dispatch({ type: 'step_selected', t: label });
        }}
      >
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="t"
          type="number"
          domain={[0, end]}
          allowDecimals={false}
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
                <strong>step {label}</strong>
                {lines.map((line) => {
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
              shape="diamond"
              isAnimationActive={false}
            />
          ) : (
            <Line
              key={line.key}
              dataKey={line.key}
              type={line.shape.endsWith('stairs') ? 'stepAfter' : 'linear'}
              stroke={`var(--series-${line.series})`}
              strokeWidth={1.6}
              {...(line.shape.startsWith('dashed') ? { strokeDasharray: '5 3' } : {})}
              dot={
                points.length <= 60 && (line.shape === 'dotted-line' || line.shape === 'dashed')
                  ? {
                      r: 2.2,
                      strokeDasharray: 'none',
                      fill: `var(--series-${line.series})`,
                      strokeWidth: 0,
                    }
                  : false
              }
              activeDot={{ r: 3.5, strokeWidth: 0 }}
              connectNulls
              isAnimationActive={false}
            />
          ),
        )}
      </ComposedChart>
    </ResponsiveContainer>
  );
});

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
