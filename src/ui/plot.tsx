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
  /** The top is found from the data where it is null. */
  readonly range: readonly [number, number | null];
  readonly wholeNumbers: boolean;
  /** The right end of the step axis. */
  readonly end: number;
}

/** The room around the plot area, in pixels: nothing but ticks is drawn there. */
const plotRoom = { left: 38, right: 16 };

/** Marks at the last step would be cut at the edge of the plot area. */
const edge = 6;

const tick = { fontSize: 11, fill: 'var(--ink-3)' };

export const Plot = memo(function Plot({
  lines,
  limits,
  points,
  range,
  wholeNumbers,
  end,
}: PlotProps) {
  const high = range[1] ?? topOf(points, lines, limits, wholeNumbers);
  return (
    <ResponsiveContainer width="100%" height="100%" debounce={60}>
      <ComposedChart
        data={[...points]}
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
          allowDataOverflow
          padding={{ right: edge }}
          tickCount={6}
          tick={tick}
          tickLine={false}
          axisLine={{ stroke: 'var(--line-strong)' }}
          height={20}
        />
        <YAxis
          domain={[range[0], high]}
          allowDecimals={!wholeNumbers}
          ticks={ticksTo(high)}
          interval={0}
          tickFormatter={(value: number) => valueText(value)}
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

/** Ticks that never collide: halves where charts are low, quarters where there is room. */
function ticksTo(high: number): number[] {
  const parts = window.innerHeight >= 900 ? 4 : 2;
  return Array.from({ length: parts + 1 }, (_, index) => (high * index) / parts);
}

/** The top of the value axis: over the data and its limits, in few jumps, so that the axis rarely moves. */
function topOf(
  points: PlotProps['points'],
  lines: readonly PlotLine[],
  limits: readonly PlotLimit[],
  wholeNumbers: boolean,
): number {
  const values = points.flatMap((point) => lines.map((line) => point[line.key] ?? 0));
  const high = Math.max(1e-6, ...values.filter(Number.isFinite), ...limits.map((limit) => limit.y));
  if (wholeNumbers) return Math.max(4, Math.ceil(high / 4) * 4);
  const power = 10 ** Math.floor(Math.log10(high));
  const stop = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].find((one) => one * power >= high * 1.02);
  return (stop ?? 12) * power;
}
