/** The controls of a run: start, pause, step, stop, update and roll back, and the line of steps. */

import { lazy, Suspense, useState } from 'react';
import { Icon, type IconName } from './icons.tsx';
import { control, startRun, stopQueue } from './running.ts';
import { Scrubber } from './scrubber.tsx';
import { isRunning, onlyReads, shownRun } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { runBar as say } from './strings.ts';
import './run-bar.css';

/** Fetched when it is opened: it reads experiment files. */
const QueueDialog = lazy(() =>
  import('./queue-dialog.tsx').then((module) => ({ default: module.QueueDialog })),
);

export function RunBar() {
  const running = useLab(isRunning);
  const status = useLab((state) => state.live?.status ?? 'ended');
  const busy = useLab(
    (state) => state.loading !== null || state.engine !== 'ready' || onlyReads(state),
  );
  const queued = useLab((state) => state.notebook.queue !== null);
  // Before the first run there is nothing to move along and nothing to train.
  const shown = useLab((state) => isRunning(state) || shownRun(state) !== null);
  // There the steps of one run are out of sight.
  const comparing = useLab((state) => state.comparing.open);
  const [planning, setPlanning] = useState(false);
  const paused = status === 'paused';
  return (
    <section className="run-bar" aria-label={say.title}>
      <div className="run-buttons">
        {running ? (
          <BarButton
            main
            icon={paused ? 'play' : 'pause'}
            tip={paused ? say.resumeHelp : say.pauseHelp}
            off={status !== 'running' && !paused}
            onPress={() => void control(paused ? 'resume' : 'pause')}
          >
            {paused ? say.resume : say.pause}
          </BarButton>
        ) : (
          <BarButton
            main
            icon="play"
            tip={say.runHelp}
            off={busy || queued}
            onPress={() => void startRun('run')}
          >
            {say.run}
          </BarButton>
        )}
        <BarButton
          icon="step"
          tip={say.stepHelp}
          off={running ? !paused : busy || queued}
          onPress={() => void (running ? control('step') : startRun('step'))}
        >
          {say.step}
        </BarButton>
        <BarButton
          icon="stop"
          tip={queued ? say.stopQueueHelp : say.stopHelp}
          off={!(running || queued) || status === 'stopping'}
          onPress={() => void (queued ? stopQueue() : control('stop'))}
        >
          {say.stop}
        </BarButton>
        <BarButton
          opensWindow
          icon="list"
          tip={say.queueHelp}
          off={running || busy || queued}
          onPress={() => setPlanning(true)}
        >
          {say.queue}
        </BarButton>
        <Suspense>{planning && <QueueDialog onClose={() => setPlanning(false)} />}</Suspense>
      </div>
      {shown && !comparing && <Scrubber />}
      {shown && (running || !comparing) && <Interventions />}
    </section>
  );
}

/** What can be asked of the adapter while an episode runs. */
function Interventions() {
  const running = useLab(isRunning);
  const stopping = useLab((state) => state.live?.status === 'stopping');
  const asked = useLab((state) => state.live?.asked ?? null);
  const observeOnly = useLab((state) => state.settings.observe_only);
  const locked = !running || asked !== null || stopping;
  return (
    <div className="run-buttons interventions">
      <BarButton
        icon="learn"
        tip={say.updateNowHelp}
        off={locked}
        onPress={() => void control('update_now')}
      >
        {asked === 'update_now' ? say.asked : say.updateNow}
      </BarButton>
      <BarButton
        icon="back"
        tip={say.rollBackNowHelp}
        off={locked}
        onPress={() => void control('roll_back_now')}
      >
        {asked === 'roll_back_now' ? say.asked : say.rollBackNow}
      </BarButton>
      <label className="observe" data-tip={say.observeOnlyHelp}>
        <input
          type="checkbox"
          checked={observeOnly}
          onChange={(event) =>
            dispatch({ type: 'setting_changed', patch: { observe_only: event.target.checked } })
          }
        />
        {say.observeOnly}
      </label>
    </div>
  );
}

/**
 * A button that keeps the focus while it is off: pressing one of these switches it off for a moment, and
 * a disabled element would hand the focus to nothing.
 */
function BarButton({
  icon,
  tip,
  off,
  main = false,
  opensWindow = false,
  onPress,
  children,
}: {
  icon: IconName;
  tip: string;
  off: boolean;
  main?: boolean;
  opensWindow?: boolean;
  onPress: () => void;
  children: string;
}) {
  return (
    <button
      type="button"
      className={main ? 'button primary run-main' : 'button'}
      aria-disabled={off}
      aria-haspopup={opensWindow ? 'dialog' : undefined}
      data-tip={tip}
      onClick={() => {
        if (!off) onPress();
      }}
    >
      <Icon name={icon} />
      {children}
    </button>
  );
}
