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

export function ForkDialog({ run, t, onClose }: { run: RunView; t: number; onClose: () => void }) {
  const settings = useLab((state) => state.settings);
  const busy = useLab((state) => isRunning(state) || state.engine !== 'ready');
  const broken = useLab((state) => Object.keys(state.drafts).length > 0);
  const was = run.started.manifest.settings;
  const changed = changedFields(settings, was);
  return (
    <Dialog title={`Fork from step ${t}`} onClose={onClose}>
      <p>
        The new run writes the first {plural(t, 'step')} of this one again, word by word, trains on
        them under the settings of the form at the left, and then goes its own way. This run stays
        as it is.
      </p>
      {changed.length === 0 ? (
        <p className="aside">
          The form has the settings of this run. Change some first, or fork as it is to repeat it.
        </p>
      ) : (
        <SettingsTable
          names={changed}
          left={{ title: 'in this run', settings: was }}
          right={{ title: 'in the fork', settings }}
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
          Fork
        </button>
        <button
          type="button"
          className="button"
          onClick={() => dispatch({ type: 'settings_replaced', settings: was })}
        >
          Take the settings of this run into the form
        </button>
      </div>
      {broken && <p className="warn-text">A setting of the form cannot be used; it is marked.</p>}
    </Dialog>
  );
}
