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
import { shownRun, type Theme } from './state.ts';
import { dispatch, useLab } from './store.ts';
import './header.css';

export function Header() {
  return (
    <header className="header">
      <h1 className="product">
        <Logo />
        aTTT Lab
      </h1>
      <p className="tagline">Agentic test-time training, in this tab</p>
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
      ? `Loading ${loading.label}`
      : engine === 'starting'
        ? 'Starting the engine'
        : engine === 'failed'
          ? 'The engine stopped'
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
  const time = left === null ? '' : `, about ${durationText(left)} left`;
  return `Episode ${queue.seconds.length + 1} of ${queue.episodes.length}${time} · `;
}

function liveText(live: LiveRun): string {
  const t = live.writing?.t ?? live.phase?.t ?? (live.view?.steps.at(-1)?.t ?? 0) + 1;
  switch (live.status) {
    case 'starting':
      return 'Starting the run';
    case 'stopping':
      return 'Stopping';
    case 'paused':
      return `Paused after step ${live.view?.steps.at(-1)?.t ?? 0}`;
    case 'pausing':
    case 'running': {
      const what = live.writing
        ? `writing${live.writing.tokensPerSecond === null ? '' : ` · ${valueText(live.writing.tokensPerSecond)} tokens/s`}`
        : live.phase
          ? phaseText(live.phase.phase)
          : 'working';
      return live.status === 'pausing' ? `Step ${t} · ${what}, then pause` : `Step ${t} · ${what}`;
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
      ? 'Stopped'
      : capabilities
        ? { webgpu: 'WebGPU', wasm: 'WASM', cpu: 'CPU' }[capabilities.backend]
        : 'Probing';
  return (
    <>
      <button
        type="button"
        className={`badge-button ${capabilities || engine === 'failed' ? tone : 'quiet'}`}
        data-tip={
          capabilities
            ? `${capabilities.reason}\nClick for the details.`
            : 'Looking for a graphics card.'
        }
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Mark tone={capabilities || engine === 'failed' ? tone : 'quiet'} />
        <span>{label}</span>
        <span className="unseen">backend: details</span>
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
      aria-label="Notify me when a run ends"
      data-tip={
        on
          ? 'You are notified when a run ends while this tab is hidden. Click to switch it off.'
          : 'Notify me when a run ends while this tab is hidden.'
      }
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
    <fieldset className="segments">
      <legend className="unseen">Colours</legend>
      {themes.map((one) => (
        <label key={one.theme} data-tip={`Colours: ${one.theme}`}>
          <input
            type="radio"
            name="theme"
            className="unseen"
            checked={theme === one.theme}
            onChange={() => dispatch({ type: 'theme', theme: one.theme })}
          />
          <Icon name={one.icon} />
          <span className="unseen">{one.theme}</span>
        </label>
      ))}
    </fieldset>
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
        Help
      </button>
      {open && <HelpDialog hasRun={hasRun} onClose={() => setOpen(false)} />}
    </>
  );
}
