/** One chart over steps, as SVG. Knows lines, limits and a range of steps; not what they mean. */

import { memo, type PointerEvent, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { valueText } from './numbers.ts';
import {
  bandPath,
  type Frame,
  linePath,
  nearestKey,
  nearestRow,
  placesOf,
  type Row,
  stepAt,
  stepTicks,
  xOf,
  yOf,
} from './plot-shape.ts';
import { type Axis, type AxisWish, axisOf } from './series.ts';
import { dispatch } from './store.ts';
import { plot as say } from './strings.ts';
import './plot.css';

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
}
export interface PlotLimit {
  readonly y: number;
  readonly label: string;
}

interface PlotProps {
  readonly lines: readonly PlotLine[];
  readonly limits: readonly PlotLimit[];
  readonly points: readonly Row[];
  readonly scale: AxisWish['kind'];
  /** The left and the right end of the step axis. */
  readonly start?: number;
  readonly end: number;
  readonly bands?: readonly PlotBand[];
}

const noBands: readonly PlotBand[] = [];

/** The room around the plot area, in pixels: nothing but ticks is drawn there. */
const room = { left: 38, top: 6, right: 16, bottom: 20 };

/** Marks at the last step would be cut at the edge of the plot area. */
const edge = 6;

/** More dots than this hide their line. */
const mostDots = 60;

/** A pointer that moved less than this has clicked, in pixels. */
const clickRoom = 4;

export const Plot = memo(function Plot({ bands = noBands, start = 0, ...rest }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<{ readonly width: number; readonly height: number } | null>(
    null,
  );
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} className="plot">
      {size && size.width > room.left + room.right && size.height > room.top + room.bottom && (
        <Drawing {...rest} bands={bands} start={start} {...size} />
      )}
    </div>
  );
});

type DrawingProps = Required<PlotProps> & { readonly width: number; readonly height: number };

/** Where the pointer is, and where it was pressed. */
interface Pointer {
  readonly x: number;
  readonly y: number;
  readonly from: number | null;
}

function Drawing({ lines, limits, points, scale, start, end, bands, width, height }: DrawingProps) {
  const clip = useId();
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const { frame, axis } = useMemo(() => {
    const log = scale === 'log';
    const found = axisOf(log ? nearFirst(points, lines) : valuesOf(points, lines), {
      kind: scale,
      limits: limits.map((limit) => limit.y),
      parts: window.innerHeight >= 900 ? 4 : 2,
    });
    const area: Frame = {
      left: room.left,
      top: room.top,
      width: width - room.left - room.right,
      height: height - room.top - room.bottom,
      ...{ start, end, low: found.low, high: found.high, log },
    };
    return { frame: area, axis: found };
  }, [points, lines, limits, scale, start, end, width, height]);

  const keys = useMemo(() => lines.filter((line) => !line.faint).map(({ key }) => key), [lines]);
  const rows = useMemo(
    () => points.filter((row) => keys.some((key) => (row[key] ?? null) !== null)),
    [points, keys],
  );
  const row = pointer && nearestRow(rows, stepAt(frame, pointer.x));
  const near = row && keys.length > 2 ? nearestKey(frame, row, keys, pointer.y) : null;
  const dragged = pointer?.from != null && Math.abs(pointer.x - pointer.from) > clickRoom;

  const at = (event: PointerEvent<SVGSVGElement>) => {
    const area = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - area.left, y: event.clientY - area.top };
  };
  return (
    <>
      <svg
        className="plot-surface"
        aria-hidden="true"
        width={width}
        height={height}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const { x, y } = at(event);
          setPointer({ x, y, from: x });
        }}
        onPointerMove={(event) => setPointer({ ...at(event), from: pointer?.from ?? null })}
        onPointerLeave={() => setPointer(null)}
        onPointerCancel={() => setPointer(null)}
        onPointerUp={(event) => {
          const { x, y } = at(event);
          const from = pointer?.from ?? null;
          setPointer({ x, y, from: null });
          if (from !== null && dragged) {
            const ends = [from, x].map((one) => Math.min(end, Math.max(start, stepAt(frame, one))));
            dispatch({ type: 'range', range: [ends[0] ?? start, ends[1] ?? end] });
          } else if (row?.t) dispatch({ type: 'step_selected', t: row.t });
        }}
        onDoubleClick={() => dispatch({ type: 'range', range: null })}
      >
        <clipPath id={clip}>
          <rect
            x={frame.left - edge}
            y={0}
            width={frame.width + 2 * edge}
            height={height - room.bottom + edge}
          />
        </clipPath>
        <Axes frame={frame} axis={axis} log={scale === 'log'} />
        <g clipPath={`url(#${clip})`}>
          <Shapes
            frame={frame}
            lines={lines}
            limits={limits}
            bands={bands}
            points={points}
            near={near}
          />
          {dragged && pointer.from !== null && (
            <rect
              className="plot-drag"
              x={Math.min(pointer.from, pointer.x)}
              y={frame.top}
              width={Math.abs(pointer.x - pointer.from)}
              height={frame.height}
            />
          )}
          {row && !dragged && <Hovered frame={frame} lines={lines} row={row} />}
        </g>
      </svg>
      {row && pointer && !dragged && (
        <PlotTip
          lines={lines}
          row={row}
          near={near}
          right={pointer.x > width / 2}
          x={xOf(frame, row.t ?? 0)}
        />
      )}
    </>
  );
}

const Axes = memo(function Axes({ frame, axis, log }: { frame: Frame; axis: Axis; log: boolean }) {
  const right = frame.left + frame.width + edge;
  const bottom = frame.top + frame.height;
  return (
    <g className="plot-axes">
      {axis.ticks.map((value) => {
        const y = yOf(frame, value) ?? bottom;
        return (
          <g key={value}>
            <path className="plot-grid" d={`M${frame.left} ${y}H${right}`} />
            <text x={frame.left - 6} y={y + 4} textAnchor="end">
              {log ? powerText(value) : valueText(value)}
            </text>
          </g>
        );
      })}
      <path className="plot-base" d={`M${frame.left} ${bottom}H${right}`} />
      {stepTicks(frame.start, frame.end, 6).map((t) => (
        <text key={t} x={xOf(frame, t)} y={bottom + 15} textAnchor="middle">
          {t}
        </text>
      ))}
    </g>
  );
});

/** Everything that was measured; drawn again when it changes, or when the pointer is at another line. */
const Shapes = memo(function Shapes({
  frame,
  lines,
  limits,
  bands,
  points,
  near,
}: Pick<DrawingProps, 'lines' | 'limits' | 'bands' | 'points'> & {
  frame: Frame;
  near: string | null;
}) {
  return (
    <>
      {bands.map(({ low, high, series }) => (
        <path
          key={low}
          className="plot-band"
          d={bandPath(frame, points, low, high)}
          fill={`var(--series-${series})`}
        />
      ))}
      {limits.map(({ label, y }) => {
        const at = yOf(frame, y);
        return (
          at !== null && (
            <path
              key={label}
              className="plot-limit"
              d={`M${frame.left} ${at}H${frame.left + frame.width + edge}`}
            />
          )
        );
      })}
      {lines.map((line) => (
        <g key={line.key} opacity={near !== null && near !== line.key ? 0.25 : 1}>
          <Line frame={frame} line={line} points={points} />
        </g>
      ))}
    </>
  );
});

const Line = memo(function Line({
  frame,
  line,
  points,
}: {
  frame: Frame;
  line: PlotLine;
  points: readonly Row[];
}) {
  const places = placesOf(frame, points, line.key);
  const colour = `var(--series-${line.series})`;
  if (line.shape === 'marks') {
    const marks = places.map(({ x, y }) => `M${x} ${y - 5}l5 5l-5 5l-5-5z`);
    return <path className="plot-marks" d={marks.join('')} fill={colour} />;
  }
  const dotted = line.shape === 'dotted-line' || line.shape === 'dashed';
  const dots = dotted && !line.faint && places.length <= mostDots;
  return (
    <>
      <path
        className="plot-line"
        d={linePath(places, line.shape.endsWith('stairs'))}
        fill="none"
        stroke={colour}
        strokeWidth={line.faint ? 1 : 1.6}
        strokeOpacity={line.faint ? 0.3 : 1}
        strokeDasharray={line.shape.startsWith('dashed') ? '5 3' : undefined}
      />
      {dots && (
        <path
          d={places
            .map(({ x, y }) => `M${x - 2.2} ${y}a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0-4.4 0`)
            .join('')}
          fill={colour}
        />
      )}
    </>
  );
});

/** A line down from the pointer's step, and a dot where each line is there. */
function Hovered({ frame, lines, row }: { frame: Frame; lines: readonly PlotLine[]; row: Row }) {
  const x = xOf(frame, row.t ?? 0);
  return (
    <>
      <path className="plot-guide" d={`M${x} ${frame.top}v${frame.height}`} />
      {lines.map((line) => {
        const value = row[line.key] ?? null;
        const y = line.faint || value === null ? null : yOf(frame, value);
        return (
          y !== null && (
            <circle key={line.key} cx={x} cy={y} r={3.5} fill={`var(--series-${line.series})`} />
          )
        );
      })}
    </>
  );
}

function PlotTip({
  lines,
  row,
  near,
  right,
  x,
}: {
  lines: readonly PlotLine[];
  row: Row;
  near: string | null;
  right: boolean;
  x: number;
}) {
  const shown = lines.filter((line) => !line.faint && (row[line.key] ?? null) !== null);
  return (
    <div className="plot-tip" data-right={right} style={{ left: x }} aria-hidden="true">
      <strong>{say.step(row.t ?? 0)}</strong>
      {shown.map((line) => (
        <span key={line.key} data-near={line.key === near || undefined}>
          {line.label} {valueText(row[line.key])}
        </span>
      ))}
    </div>
  );
}

/** A second line that is this much below the first leaves a log axis instead of squeezing it. */
const farBelow = 0.01;

function nearFirst(points: readonly Row[], lines: readonly PlotLine[]): readonly (number | null)[] {
  const first = valuesOf(points, lines.slice(0, 1)).filter((value) => value !== null && value > 0);
  const least = farBelow * Math.min(...first.map(Number));
  return valuesOf(points, lines).filter((value) => value !== null && value >= least);
}

function valuesOf(points: readonly Row[], lines: readonly PlotLine[]): readonly (number | null)[] {
  return points.flatMap((point) => lines.map((line) => point[line.key] ?? null));
}

/** Powers of ten: `0.01`, but `10⁻⁵` where zeros would have to be counted. */
function powerText(value: number): string {
  const power = Math.round(Math.log10(value));
  if (power >= -3 && power <= 4) return String(Number(value.toPrecision(2)));
  const digits = [...String(Math.abs(power))].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
  return `10${power < 0 ? '⁻' : ''}${digits}`;
}
