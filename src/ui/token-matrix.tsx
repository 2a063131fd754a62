/** All boundaries of a run at once: a row of cells for each, a cell for each token, on a canvas. */

import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Boundary } from '../records.ts';
import type { RunView } from './run-view.ts';
import type { Quantity } from './state.ts';
import { dispatch } from './store.ts';
import { tokenMatrix as say } from './strings.ts';
import { useDark } from './theme.ts';
import { TokenDetail } from './token-detail.tsx';
import { paint, quantityWords, type Scale, tokenValue } from './tokens.ts';
import { useWidth } from './use-width.ts';

const labelWidth = 46;
/** The padding of the box, as in heatmap.css. */
const sides = 24;
const rowHeight = 18;
/** Wider cells show no more; narrower ones cannot be hit. */
const widestCell = 14;
const narrowestCell = 3;
/** Colours are looked up, not computed, for each of many thousand cells. */
const shades = 128;

interface Cell {
  readonly boundary: Boundary;
  readonly j: number;
}

export function TokenMatrix({
  run,
  boundary,
  quantity,
  scale,
}: {
  run: RunView;
  boundary: Boundary;
  quantity: Quantity;
  scale: Scale;
}) {
  const dark = useDark();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box) - sides;
  const [hovered, setHovered] = useState<Cell | null>(null);
  const rows = useMemo(() => run.boundaries.filter((one) => one.tokens), [run.boundaries]);
  const longest = Math.max(1, ...rows.map((row) => row.tokens?.ids.length ?? 0));
  const cell = Math.min(
    widestCell,
    Math.max(narrowestCell, Math.floor((width - labelWidth) / longest)),
  );
  const colour = quantityWords[quantity].title;
  const drawnWidth = Math.max(labelWidth + cell * longest, 1);
  const drawnHeight = Math.max(rowHeight * rows.length, 1);

  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !canvas.current) return;
    const dots = window.devicePixelRatio || 1;
    canvas.current.width = drawnWidth * dots;
    canvas.current.height = drawnHeight * dots;
    context.scale(dots, dots);
    const style = getComputedStyle(canvas.current);
    context.font = `11px ${style.fontFamily}`;
    context.textBaseline = 'middle';
    const palette = Array.from({ length: shades + 1 }, (_, index) => {
      const value = scale.low + ((scale.high - scale.low) * index) / shades;
      return paint(value, scale, quantity, dark).background;
    });
    rows.forEach(({ t, seq, tokens }, row) => {
      const y = row * rowHeight;
      context.fillStyle = seq === boundary.seq ? style.color : style.outlineColor;
      context.fillText(say.row(t), 0, y + rowHeight / 2);
      tokens?.ids.forEach((_, j) => {
        const value = tokenValue(tokens, j, quantity);
        if (value === null) return;
        const shade = Math.round(((value - scale.low) / (scale.high - scale.low)) * shades);
        context.fillStyle = palette[shade] ?? 'transparent';
        context.fillRect(labelWidth + j * cell, y + 1, cell - (cell > 4 ? 1 : 0), rowHeight - 2);
      });
    });
  }, [rows, boundary, quantity, scale, dark, cell, drawnWidth, drawnHeight]);

  const cellAt = (event: PointerEvent): Cell | null => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area) return null;
    const row = rows[Math.floor((event.clientY - area.top) / rowHeight)];
    const j = Math.floor((event.clientX - area.left - labelWidth) / cell);
    return row && j >= 0 && j < (row.tokens?.ids.length ?? 0) ? { boundary: row, j } : null;
  };
  const shown = hovered ?? {
    boundary,
    j: Math.max(0, boundary.tokens?.weights.findIndex((weight) => weight > 0) ?? 0),
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard */}
      <div ref={box} className="matrix" tabIndex={0}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={say.summary(rows.length, longest, colour)}
          style={{ width: drawnWidth, height: drawnHeight }}
          onPointerMove={(event) => {
            const next = cellAt(event);
            if (next?.boundary !== hovered?.boundary || next?.j !== hovered?.j) setHovered(next);
          }}
          onPointerLeave={() => setHovered(null)}
          onPointerDown={(event) => {
            const at = cellAt(event);
            if (!at) return;
            dispatch(
              { type: 'step_selected', t: at.boundary.t, seq: at.boundary.seq },
              { type: 'token_chosen', j: at.j },
              { type: 'token_pinned', pin: { seq: at.boundary.seq, j: at.j } },
            );
          }}
        />
      </div>
      <TokenDetail run={run} boundary={shown.boundary} j={shown.j} />
    </>
  );
}
