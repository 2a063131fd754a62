/** The controls of a run: start, pause, step, stop, update and roll back, and the line of steps. */

import { lazy, Suspense, useState } from 'react';
import { Icon } from './icons.tsx';
import { control, startRun, stopQueue } from './running.ts';
import { Scrubber } from './scrubber.tsx';
import { isRunning, shownRun } from './state.ts';
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
    (state) =>
      state.loading !== null || state.engine !== 'ready' || state.notebook.writer === 'other_tab',
  );
  const queued = useLab((state) => state.notebook.queue !== null);
  // Before the first run there is nothing to move along and nothing to train.
  const shown = useLab((state) => isRunning(state) || shownRun(state) !== null);
  const [planning, setPlanning] = useState(false);
  const paused = status === 'paused';
  return (
    <section className="run-bar" aria-label={say.runControls}>
      <div className="run-buttons">
        {running ? (
          <button
            type="button"
            className="button primary run-main"
            disabled={status !== 'running' && !paused}
            data-tip={paused ? say.goSpace : say.pauseAfterStepProgressSpace}
            onClick={() => void control(paused ? 'resume' : 'pause')}
          >
            <Icon name={paused ? 'play' : 'pause'} />
            {paused ? say.resume : say.pause}
          </button>
        ) : (
          <button
            type="button"
            className="button primary run-main"
            disabled={busy}
            data-tip={say.runOneEpisodeChosen}
            onClick={() => void startRun('run')}
          >
            <Icon name="play" />
            {say.run}
          </button>
        )}
        <button
          type="button"
          className="button"
          disabled={running ? !paused : busy}
          data-tip={say.doOneStepThenPause}
          onClick={() => void (running ? control('step') : startRun('step'))}
        >
          <Icon name="step" />
          {say.step}
        </button>
        <button
          type="button"
          className="button"
          disabled={!running || status === 'stopping'}
          data-tip={queued ? say.endRunQueueWithin : say.endRunWithinSecond}
          onClick={() => void (queued ? stopQueue() : control('stop'))}
        >
          <Icon name="stop" />
          {say.stop}
        </button>
        <button
          type="button"
          className="button"
          disabled={running || busy}
          aria-haspopup="dialog"
          data-tip={say.severalTasksSeedsMethods}
          onClick={() => setPlanning(true)}
        >
          <Icon name="list" />
          {say.queue}
        </button>
        <Suspense>{planning && <QueueDialog onClose={() => setPlanning(false)} />}</Suspense>
      </div>
      {shown && <Scrubber />}
      {shown && <Interventions />}
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
    <div className="run-buttons">
      <button
        type="button"
        className="button"
        disabled={locked}
        data-tip={say.afterStepProgressTrain}
        onClick={() => void control('update_now')}
      >
        <Icon name="learn" />
        {asked === 'update_now' ? say.asked : say.updateNow}
      </button>
      <button
        type="button"
        className="button"
        disabled={locked}
        data-tip={say.afterStepProgressPut}
        onClick={() => void control('roll_back_now')}
      >
        <Icon name="back" />
        {asked === 'roll_back_now' ? say.asked : say.rollBackNow}
      </button>
      <label className="observe" data-tip={say.nextRunEveryNumber}>
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
