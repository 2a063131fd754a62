/** The page: where each panel stands, and what keys do. */

import { lazy, Suspense, useEffect, useState } from 'react';
import { followAddress } from './address.ts';
import { Header } from './header.tsx';
import { Icon } from './icons.tsx';
import { listenToKeys } from './keys.ts';
import { ModelCard } from './model-card.tsx';
import { Notices } from './notices.tsx';
import { RunBar } from './run-bar.tsx';
import { RunsList } from './runs-list.tsx';
import { SettingsForm } from './settings-form.tsx';
import { isRunning, shownRun } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { app as say } from './strings.ts';
import { TabsBanner } from './tabs-banner.tsx';
import { TaskCard } from './task-card.tsx';
import { TipLayer } from './tip.tsx';
import { Tour } from './tour.tsx';
import { Welcome } from './welcome.tsx';
import './app.css';

/** Fetched when they are opened; a run's screen already while the first one is looked at. */
const Compare = lazy(() => import('./compare.tsx').then((module) => ({ default: module.Compare })));
const AdapterShelf = lazy(() =>
  import('./adapter-shelf.tsx').then((module) => ({ default: module.AdapterShelf })),
);
const runScreen = () =>
  import('./run-screen.tsx').then((module) => ({ default: module.RunScreen }));
const RunScreen = lazy(runScreen);

export function App() {
  const theme = useLab((state) => state.theme);
  const run = useLab(shownRun);
  const comparing = useLab((state) => state.comparing.open);
  const side = useLab((state) => state.side);
  const enlarged = useLab((state) => state.reading.enlarged);
  const draggedOver = useLab((state) => state.draggedOver);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  useEffect(() => listenToKeys(window), []);
  useEffect(() => {
    void runScreen();
  }, []);
  useFollowedAddress();
  useTitle();
  useLeaveWarning();
  return (
    <div className="app">
      <SkipButton to={run && !comparing ? say.skipToTranscript : say.skipToMain} />
      <Header />
      <TabsBanner />
      <RunBar />
      <main
        className="main"
        data-side={side ? 'open' : 'closed'}
        data-enlarged={run && !comparing ? (enlarged ?? undefined) : undefined}
      >
        <Side />
        <span id="skipped-side" className="unseen" tabIndex={-1} />
        <Suspense fallback={<p className="aside opening">{say.opening}</p>}>
          {comparing ? <Compare /> : run ? <RunScreen run={run} /> : <Welcome />}
        </Suspense>
      </main>
      <Notices />
      <TipLayer />
      <Tour />
      {draggedOver && (
        <div className="drop" aria-hidden="true">
          <p>{say.dropHere}</p>
        </div>
      )}
    </div>
  );
}

/** The first thing that Tab reaches: past the head, the controls and the side. */
function SkipButton({ to }: { to: string }) {
  return (
    <button
      type="button"
      className="skip"
      onClick={() => {
        const target =
          document.getElementById('transcript') ?? document.getElementById('skipped-side');
        target?.focus();
      }}
    >
      {to}
    </button>
  );
}

const sides = [
  { side: 'setup', label: say.setup },
  { side: 'runs', label: say.runs },
  { side: 'adapters', label: say.adapters },
] as const;
type SideName = (typeof sides)[number]['side'];

/** The left side: what the next run is made of, and the runs that were. */
function Side() {
  const [tab, setTab] = useState<SideName>('setup');
  const count = useLab((state) => state.runs.length);
  const open = useLab((state) => state.side);
  return (
    <aside className="side" aria-label={say.side}>
      <button
        type="button"
        className="button bare iconic small side-toggle"
        aria-expanded={open}
        aria-controls="side-panel"
        aria-label={open ? say.closeSide : say.openSide}
        data-tip={open ? say.closeSide : say.openSide}
        onClick={() => dispatch({ type: 'side', open: !open })}
      >
        <Icon name={open ? 'left' : 'right'} />
      </button>
      <div className="tabs" role="tablist" aria-label={say.sideTabs}>
        {sides.map(({ side, label }) => (
          <button
            key={side}
            type="button"
            role="tab"
            id={`tab-${side}`}
            aria-controls="side-panel"
            aria-selected={tab === side}
            tabIndex={tab === side ? 0 : -1}
            onClick={() => setTab(side)}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
              event.preventDefault();
              const step = event.key === 'ArrowRight' ? 1 : -1;
              const at = sides.findIndex((one) => one.side === tab);
              const other = sides.at((at + step) % sides.length)?.side ?? 'setup';
              setTab(other);
              document.getElementById(`tab-${other}`)?.focus();
            }}
          >
            {label}
            {side === 'runs' && count > 0 && ` (${count})`}
          </button>
        ))}
      </div>
      <div className="side-scroll" role="tabpanel" id="side-panel" aria-labelledby={`tab-${tab}`}>
        {tab === 'setup' && (
          <>
            <ModelCard />
            <TaskCard />
            <SettingsForm />
          </>
        )}
        {tab === 'runs' && <RunsList />}
        {tab === 'adapters' && (
          <Suspense fallback={<p className="aside opening">{say.opening}</p>}>
            <AdapterShelf />
          </Suspense>
        )}
      </div>
    </aside>
  );
}

/** The title tells a hidden tab's progress. */
function useTitle(): void {
  const title = useLab((state) => {
    const live = state.live;
    if (!live) return say.title;
    const t = live.view?.steps.at(-1)?.t ?? 0;
    if (live.status === 'ended') return say.titleDone(t);
    return live.status === 'paused' ? say.titlePaused(t) : say.titleRunning(t);
  });
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** A link can name a stored run, so the engine has to be there first. */
function useFollowedAddress(): void {
  const ready = useLab((state) => state.engine !== 'starting');
  useEffect(() => (ready ? followAddress() : undefined), [ready]);
}

/** A running episode ends with its tab; the browser asks before. */
function useLeaveWarning(): void {
  const running = useLab(isRunning);
  useEffect(() => {
    if (!running) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [running]);
}
