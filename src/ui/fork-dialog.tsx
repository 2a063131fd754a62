/** Before a fork: what the new run takes over, and in which settings it differs. */

import { changedFields } from '../config.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { plural } from './numbers.ts';
import type { RunView } from './run-view.ts';
import { forkRun } from './running.ts';
import { SettingsTable } from './settings-table.tsx';
import { isRunning } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { forkDialog as say } from './strings.ts';

export function ForkDialog({ run, t, onClose }: { run: RunView; t: number; onClose: () => void }) {
  const settings = useLab((state) => state.settings);
  const running = useLab(isRunning);
  const busy = useLab((state) => running || state.engine !== 'ready');
  const broken = useLab((state) => Object.keys(state.drafts).length > 0);
  const was = run.started.manifest.settings;
  const changed = changedFields(settings, was);
  return (
    <Dialog title={say.title(t)} onClose={onClose}>
      <p>{say.help(plural(t, 'step'))}</p>
      <p className="aside">{say.isGoingBack(t)}</p>
      {changed.length === 0 ? (
        <p className="aside">{say.noChangeYet}</p>
      ) : (
        <SettingsTable
          names={changed}
          left={{ title: say.thisRun, settings: was }}
          right={{ title: say.theFork, settings }}
        />
      )}
      <div className="dialog-buttons">
        <button
          type="button"
          className="button primary"
          disabled={busy || broken}
          onClick={() => {
            onClose();
            void forkRun(run, t);
          }}
        >
          <Icon name="fork" />
          {say.fork}
        </button>
        <button
          type="button"
          className="button"
          onClick={() => dispatch({ type: 'settings_replaced', settings: was })}
        >
          {say.takeSettings}
        </button>
      </div>
      {running && <p className="warn-text">{say.busy}</p>}
      {broken && <p className="warn-text">{say.settingUnusable}</p>}
    </Dialog>
  );
}
