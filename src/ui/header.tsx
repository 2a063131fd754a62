/** The line at the top: the product's name, what is happening, the backend, the theme, help. */

import { useState } from 'react';
import { CapabilitiesDialog } from './capabilities.tsx';
import { HelpDialog } from './help.tsx';
import { Icon, Logo, Mark } from './icons.tsx';
import type { LiveRun } from './live.ts';
import { type Queue, timeLeft } from './notebook.ts';
import { setNotify } from './notify.ts';
import { durationText, valueText } from './numbers.ts';
import { phaseText } from './run-view.ts';
import { Segments } from './segments.tsx';
import { shownRun, type Theme } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { header as say } from './strings.ts';
import './header.css';

export function Header() {
  return (
    <header className="header">
      <h1 className="product">
        <Logo />
        {say.appName}
      </h1>
      <p className="tagline">{say.tagline}</p>
      <Activity />
      <NotifySwitch />
      <Badge />
      <ThemeSwitch />
      <HelpButton />
    </header>
  );
}

/** What the engine does now; the same in a hidden live region, but only when a step is done. */
function Activity() {
  const live = useLab((state) => state.live);
  const status = useLab((state) => state.status);
  const loading = useLab((state) => state.loading);
  const engine = useLab((state) => state.engine);
  const queue = useLab((state) => state.notebook.queue);
  const running = live !== null && live.status !== 'ended';
  const text = running
    ? `${queueText(queue, live)}${liveText(live)}`
    : loading
      ? say.loading(loading.label)
      : engine === 'starting'
        ? say.startingEngine
        : engine === 'failed'
          ? say.engineStopped
          : '';
  return (
    <>
      <p className="activity" data-busy={running || loading !== null || engine === 'starting'}>
        {text !== '' && <span className="pulse" aria-hidden="true" />}
        {text}
      </p>
      <p className="unseen" role="status" aria-live="polite">
        {status}
      </p>
    </>
  );
}

/** Where in the queue the run is, and how long the queue will take. */
function queueText(queue: Queue | null, live: LiveRun): string {
  if (!queue) return '';
  const steps = live.view?.steps.length ?? 0;
  const limit = live.summary?.manifest.settings.step_limit ?? 1;
  const left = timeLeft(queue, Math.min(1, steps / limit));
  const time = left === null ? '' : say.aboutLeft(durationText(left));
  return say.episode(queue.seconds.length + 1, queue.episodes.length, time);
}

function liveText(live: LiveRun): string {
  const t = live.writing?.t ?? live.phase?.t ?? (live.view?.steps.at(-1)?.t ?? 0) + 1;
  switch (live.status) {
    case 'starting':
      return say.startingRun;
    case 'stopping':
      return say.stopping;
    case 'paused':
      return say.pausedAfterStep(live.view?.steps.at(-1)?.t ?? 0);
    case 'pausing':
    case 'running': {
      const what = live.writing
        ? live.writing.tokensPerSecond === null
          ? say.writing
          : say.writingAt(valueText(live.writing.tokensPerSecond))
        : live.phase
          ? phaseText(live.phase.phase)
          : say.working;
      return live.status === 'pausing' ? say.stepThenPause(t, what) : say.step(t, what);
    }
    case 'ended':
      return '';
    default:
      return live.status satisfies never;
  }
}

function Badge() {
  const [open, setOpen] = useState(false);
  const capabilities = useLab((state) => state.capabilities);
  const engine = useLab((state) => state.engine);
  const tone = engine === 'failed' ? 'bad' : capabilities?.backend === 'webgpu' ? 'good' : 'warn';
  const label =
    engine === 'failed'
      ? say.stopped
      : capabilities
        ? { webgpu: 'WebGPU', wasm: say.wasm, cpu: say.cpu }[capabilities.backend]
        : say.probing;
  return (
    <>
      <button
        type="button"
        className={`badge-button ${capabilities || engine === 'failed' ? tone : 'quiet'}`}
        data-tip={capabilities ? say.badgeHelp(capabilities.reason) : say.badgeProbing}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Mark tone={capabilities || engine === 'failed' ? tone : 'quiet'} />
        <span>{label}</span>
        <span className="unseen">{say.backendDetails}</span>
      </button>
      {open && <CapabilitiesDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** A notification at the end of a run, for those who look elsewhere meanwhile. */
function NotifySwitch() {
  const on = useLab((state) => state.notebook.notify);
  return (
    <button
      type="button"
      className="button bare iconic small"
      aria-pressed={on}
      aria-label={say.notify}
      data-tip={on ? say.notifyOnHelp : say.notifyOffHelp}
      onClick={() => void setNotify(!on)}
    >
      <Icon name={on ? 'bell' : 'bell_off'} />
    </button>
  );
}

const themes: readonly { readonly theme: Theme; readonly icon: 'sun' | 'moon' | 'system' }[] = [
  { theme: 'light', icon: 'sun' },
  { theme: 'system', icon: 'system' },
  { theme: 'dark', icon: 'moon' },
];

function ThemeSwitch() {
  const theme = useLab((state) => state.theme);
  return (
    <Segments
      legend={say.colours}
      options={themes.map((one) => ({
        value: one.theme,
        tip: say.coloursTheme(one.theme),
        label: (
          <>
            <Icon name={one.icon} />
            <span className="unseen">{one.theme}</span>
          </>
        ),
      }))}
      value={theme}
      onChange={(one) => dispatch({ type: 'theme', theme: one })}
    />
  );
}

function HelpButton() {
  const [open, setOpen] = useState(false);
  const hasRun = useLab((state) => shownRun(state) !== null);
  return (
    <>
      <button
        type="button"
        className="button bare small"
        data-help
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {say.help}
      </button>
      {open && <HelpDialog hasRun={hasRun} onClose={() => setOpen(false)} />}
    </>
  );
}
