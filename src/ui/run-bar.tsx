/** The controls of a run: start, pause, step, stop, update and roll back, and the line of steps. */

import { useState } from 'react';
import { Icon } from './icons.tsx';
import { QueueDialog } from './queue-dialog.tsx';
import { control, startRun, stopQueue } from './running.ts';
import { Scrubber } from './scrubber.tsx';
import { isRunning } from './state.ts';
import { dispatch, useLab } from './store.ts';
import './run-bar.css';

export function RunBar() {
  const running = useLab(isRunning);
  const status = useLab((state) => state.live?.status ?? 'ended');
  const busy = useLab(
    (state) =>
      state.loading !== null || state.engine !== 'ready' || state.notebook.writer === 'other_tab',
  );
  const queued = useLab((state) => state.notebook.queue !== null);
  const [planning, setPlanning] = useState(false);
  const asked = useLab((state) => state.live?.asked ?? null);
  const observeOnly = useLab((state) => state.settings.observe_only);
  const paused = status === 'paused';
  return (
    <section className="run-bar" aria-label="Run controls">
      <div className="run-buttons">
        {running ? (
          <button
            type="button"
            className="button primary run-main"
            disabled={status !== 'running' && !paused}
            data-tip={paused ? 'Go on. (Space)' : 'Pause after the step in progress. (Space)'}
            onClick={() => void control(paused ? 'resume' : 'pause')}
          >
            <Icon name={paused ? 'play' : 'pause'} />
            {paused ? 'Resume' : 'Pause'}
          </button>
        ) : (
          <button
            type="button"
            className="button primary run-main"
            disabled={busy}
            data-tip="Run one episode of the chosen task with the settings on the left."
            onClick={() => void startRun('run')}
          >
            <Icon name="play" />
            Run
          </button>
        )}
        <button
          type="button"
          className="button"
          disabled={running ? !paused : busy}
          data-tip="Do one step, then pause."
          onClick={() => void (running ? control('step') : startRun('step'))}
        >
          <Icon name="step" />
          Step
        </button>
        <button
          type="button"
          className="button"
          disabled={!running || status === 'stopping'}
          data-tip={
            queued
              ? 'End the run and the queue within a second; everything up to here is kept, and the run can be resumed.'
              : 'End the run within a second; everything up to here is kept, and it can be resumed.'
          }
          onClick={() => void (queued ? stopQueue() : control('stop'))}
        >
          <Icon name="stop" />
          Stop
        </button>
        <button
          type="button"
          className="button"
          disabled={running || busy}
          aria-haspopup="dialog"
          data-tip="Several tasks, seeds and methods, one episode after another."
          onClick={() => setPlanning(true)}
        >
          <Icon name="list" />
          Queue…
        </button>
        {planning && <QueueDialog onClose={() => setPlanning(false)} />}
      </div>
      <Scrubber />
      <div className="run-buttons">
        <button
          type="button"
          className="button"
          disabled={!running || asked !== null || status === 'stopping'}
          data-tip="After the step in progress, train on the update text now, whatever the period says."
          onClick={() => void control('update_now')}
        >
          <Icon name="learn" />
          {asked === 'update_now' ? 'Asked' : 'Update now'}
        </button>
        <button
          type="button"
          className="button"
          disabled={!running || asked !== null || status === 'stopping'}
          data-tip="After the step in progress, put the adapter back to the episode start."
          onClick={() => void control('roll_back_now')}
        >
          <Icon name="back" />
          {asked === 'roll_back_now' ? 'Asked' : 'Roll back now'}
        </button>
        <label
          className="observe"
          data-tip="For the next run: every number of a boundary is computed and recorded, and nothing is trained."
        >
          <input
            type="checkbox"
            checked={observeOnly}
            onChange={(event) =>
              dispatch({ type: 'setting_changed', patch: { observe_only: event.target.checked } })
            }
          />
          Observe only
        </label>
      </div>
    </section>
  );
}
