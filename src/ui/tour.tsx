/** A short tour of the page: one place after another, each with a sentence. It can be taken at any time. */

import { useEffect, useId, useRef, useState } from 'react';
import { openDemo } from './actions.ts';
import { shownRun } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { tour as say } from './strings.ts';
import './tour.css';

interface Stop {
  /** Where it is on the page. */
  readonly at: string;
  readonly title: string;
  readonly text: string;
}

const stops: readonly Stop[] = [
  {
    at: '.run-bar',
    title: say.runTitle,
    text: say.runText,
  },
  {
    at: '.transcript',
    title: say.transcriptTitle,
    text: say.transcriptText,
  },
  {
    at: '.charts',
    title: say.chartsTitle,
    text: say.chartsText,
  },
  {
    at: '.heatmap',
    title: say.tokensTitle,
    text: say.tokensText,
  },
  {
    at: '.side',
    title: say.setupTitle,
    text: say.setupText,
  },
  {
    at: '.badge-button',
    title: say.backendTitle,
    text: say.backendText,
  },
];

const gap = 10;

/** Shows the stop that the state names; nothing otherwise. */
export function Tour() {
  const at = useLab((state) => state.notebook.tour);
  const stop = at === null ? undefined : stops[at];
  return at !== null && stop ? <TourStop key={at} place={at} stop={stop} /> : null;
}

/** Begins the tour, over the recorded run where there is none on the page. */
export async function startTour(): Promise<void> {
  if (!shownRun(useLab.getState())) await openDemo();
  dispatch({ type: 'tour', stop: 0 });
}

function TourStop({ place, stop }: { place: number; stop: Stop }) {
  const box = useRef<HTMLDivElement>(null);
  const heading = useId();
  const [spot, setSpot] = useState<{ left: number; top: number } | null>(null);
  useEffect(() => {
    const target = document.querySelector(stop.at);
    target?.setAttribute('data-toured', '');
    target?.scrollIntoView({ block: 'nearest' });
    const arrange = () => setSpot(spotBeside(target, box.current));
    arrange();
    box.current?.querySelector<HTMLElement>('[data-first]')?.focus({ preventScroll: true });
    window.addEventListener('resize', arrange);
    return () => {
      target?.removeAttribute('data-toured');
      window.removeEventListener('resize', arrange);
    };
  }, [stop]);
  const go = (to: number | null) => dispatch({ type: 'tour', stop: to });
  const last = place === stops.length - 1;
  return (
    <div
      ref={box}
      className="tour"
      role="dialog"
      aria-labelledby={heading}
      style={spot ?? { left: -9999, top: 0 }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        go(null);
      }}
    >
      <h2 id={heading}>{stop.title}</h2>
      <p>{stop.text}</p>
      <div className="tour-foot">
        <span>{say.of(place + 1, stops.length)}</span>
        {place > 0 && (
          <button type="button" className="button small" onClick={() => go(place - 1)}>
            {say.back}
          </button>
        )}
        <button
          type="button"
          data-first
          className="button small primary"
          onClick={() => go(last ? null : place + 1)}
        >
          {last ? say.done : say.next}
        </button>
        {!last && (
          <button type="button" className="button bare small" onClick={() => go(null)}>
            {say.endTour}
          </button>
        )}
      </div>
    </div>
  );
}

/** Under the target where there is room, else beside or over it; always inside the window. */
function spotBeside(
  target: Element | null,
  box: HTMLElement | null,
): { left: number; top: number } {
  if (!target || !box) return { left: gap, top: gap };
  const to = target.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const inside = (x: number, size: number, room: number) =>
    Math.max(gap, Math.min(x, room - size - gap));
  const below = to.bottom + gap + height <= innerHeight;
  const right = to.right + gap + width <= innerWidth;
  if (below) return { left: inside(to.left, width, innerWidth), top: to.bottom + gap };
  if (right) return { left: to.right + gap, top: inside(to.top + 40, height, innerHeight) };
  return {
    left: inside(to.left - width - gap, width, innerWidth),
    top: inside(to.top + 40, height, innerHeight),
  };
}
