/** The line of steps: how much each repeats, where updates and rollbacks were, which one is on screen. */

import { type CSSProperties, memo, type PointerEvent, useEffect, useRef } from 'react';
import { Icon, Mark } from './icons.tsx';
import { barsOf, marksOf } from './line-of-steps.ts';
import { stepNotes } from './notes.ts';
import type { PlaySpeed } from './reading.ts';
import { actionWording, type RunView } from './run-view.ts';
import { axisEnd } from './series.ts';
import { shownRun, shownStep } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { scrubber as say } from './strings.ts';
import { useWidth } from './use-width.ts';
import './scrubber.css';

/** How long a step stays on screen in playback at 1×. */
const stepMs = 800;

const speeds: readonly PlaySpeed[] = [1, 2, 4];

/** Thinner bars are one grey, and marks closer than this lie over each other; in pixels. */
const narrowestBar = 2;
const markWidth = 15;

export function Scrubber() {
  const run = useLab(shownRun);
  const step = useLab(shownStep);
  const pinned = useLab((state) => state.selected !== null);
  const track = useRef<HTMLDivElement>(null);
  const width = useWidth(track);
  const last = run?.steps.at(-1)?.t ?? 0;
  const end = run ? axisEnd(last, run.started.manifest.settings.step_limit) : 50;
  const select = (t: number | null) => dispatch({ type: 'step_selected', t });
  const selectAt = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (!box || last === 0) return;
    select(Math.ceil(((event.clientX - box.left) / box.width) * end));
  };
  const current = run?.steps.find((one) => one.t === step);
  const action = current?.action || say.noAction;
  const range = useLab((state) => state.reading.range);
  const notes = useLab(stepNotes);
  return (
    <div className="scrubber">
      <Playback disabled={last === 0} />
      <button
        type="button"
        className="button bare iconic small"
        aria-label={say.stepBefore}
        disabled={step <= 1}
        onClick={() => select(step - 1)}
      >
        <Icon name="left" />
      </button>
      <div
        ref={track}
        className="track"
        role="slider"
        tabIndex={0}
        aria-label={say.title}
        data-tip={say.help}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={step}
        aria-valuetext={
          current
            ? say.step(step, last, action, actionWording(current.actionClass).label)
            : say.noStepsYet
        }
        aria-disabled={last === 0}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          selectAt(event);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) selectAt(event);
        }}
      >
        {run && <Bars run={run} end={end} width={width} />}
        {Object.keys(notes).map((t) => (
          <span key={t} className="noted" style={{ left: `${((Number(t) - 0.5) / end) * 100}%` }} />
        ))}
        {range && (
          <span
            className="shown-range"
            style={
              {
                left: `${(Math.max(0, range[0] - 0.5) / end) * 100}%`,
                right: `${100 - (Math.min(end, range[1]) / end) * 100}%`,
              } satisfies CSSProperties
            }
          />
        )}
        {step > 0 && (
          <span
            className={pinned ? 'cursor pinned' : 'cursor'}
            style={{ left: `${((step - 1) / end) * 100}%`, width: `${100 / end}%` }}
          />
        )}
      </div>
      <button
        type="button"
        className="button bare iconic small"
        aria-label={say.stepAfter}
        disabled={step >= last}
        onClick={() => select(step + 1)}
      >
        <Icon name="right" />
      </button>
      <span className="count">{last === 0 ? say.countNone : `${step} / ${last}`}</span>
    </div>
  );
}

/** Plays the steps of a run back; the state says which one is next. */
function Playback({ disabled }: { disabled: boolean }) {
  const { playing, speed } = useLab((state) => state.reading);
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => dispatch({ type: 'play_tick' }), stepMs / speed);
    return () => clearInterval(timer);
  }, [playing, speed]);
  const faster = speeds[(speeds.indexOf(speed) + 1) % speeds.length] ?? 1;
  return (
    <>
      <button
        type="button"
        className="button bare iconic small"
        aria-label={playing ? say.halt : say.play}
        data-tip={say.playHelp}
        disabled={disabled}
        onClick={() => dispatch({ type: 'play', on: !playing })}
      >
        <Icon name={playing ? 'pause' : 'play'} />
      </button>
      <button
        type="button"
        className="button bare small speed"
        aria-label={say.speed(speed, faster)}
        data-tip={say.speedHelp}
        disabled={disabled}
        onClick={() => dispatch({ type: 'play_speed', speed: faster })}
      >
        {speed}×
      </button>
    </>
  );
}

const Bars = memo(function Bars({
  run,
  end,
  width,
}: {
  run: RunView;
  end: number;
  /** Of the line, in pixels. */
  width: number;
}) {
  const bars = barsOf(run.steps, width / narrowestBar);
  return (
    <>
      <svg
        className="bars"
        viewBox={`0 0 ${end} 100`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map(({ t, steps, repetition, tone }) => (
          <rect
            key={t}
            className={tone}
            x={t - 1 + 0.08 * steps}
            width={0.84 * steps}
            y={100 - (6 + 88 * repetition)}
            height={6 + 88 * repetition}
          />
        ))}
      </svg>
      <span className="marks" aria-hidden="true">
        {marksOf(run.items, end, Math.floor(width / markWidth)).map(({ t, tone }, index) => (
          <span key={index} style={{ left: `${((t - 0.5) / end) * 100}%` }}>
            <Mark tone={tone} />
          </span>
        ))}
      </span>
    </>
  );
});
