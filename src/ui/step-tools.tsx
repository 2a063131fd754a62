/** What can be done with the step on screen: link to it, read its record, see the world, go on from it. */

import { useState } from 'react';
import type { EpisodeEvent, StepTaken } from '../records.ts';
import { addressOf } from './address.ts';
import { ForkDialog } from './fork-dialog.tsx';
import { Icon } from './icons.tsx';
import { RecordDialog } from './record-dialog.tsx';
import type { RunView } from './run-view.ts';
import { dispatch } from './store.ts';

export function StepTools({ run, step }: { run: RunView; step: StepTaken }) {
  const [open, setOpen] = useState<'record' | 'fork' | null>(null);
  const [copied, setCopied] = useState(false);
  const records: readonly EpisodeEvent[] = run.items.filter((item) => item.t === step.t);
  return (
    // The step behind it reacts to clicks as well.
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside are the controls
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div className="step-tools" onClick={(event) => event.stopPropagation()}>
      <button
        type="button"
        className="button bare small"
        data-tip="Copies the address of this step; a file's run has to be opened again first."
        onClick={() =>
          navigator.clipboard.writeText(addressOf(run, step.t)).then(
            () => setCopied(true),
            () => dispatch({ type: 'step_selected', t: step.t }),
          )
        }
      >
        <Icon name="link" />
        {copied ? 'Copied' : 'Link'}
      </button>
      <button
        type="button"
        className="button bare small"
        data-tip="Everything that was recorded at this step, as JSON."
        onClick={() => setOpen('record')}
      >
        <Icon name="braces" />
        JSON
      </button>
      <button
        type="button"
        className="button bare small"
        data-tip="Where everything is in the world after this step."
        onClick={() => dispatch({ type: 'lower_panel', panel: 'world' })}
      >
        <Icon name="house" />
        World
      </button>
      <button
        type="button"
        className="button bare small"
        data-tip="A new run that takes the steps up to here over and goes on with other settings."
        onClick={() => setOpen('fork')}
      >
        <Icon name="fork" />
        Fork
      </button>
      {open === 'fork' && <ForkDialog run={run} t={step.t} onClose={() => setOpen(null)} />}
      {open === 'record' && (
        <RecordDialog title={`Step ${step.t}`} records={records} onClose={() => setOpen(null)} />
      )}
    </div>
  );
}
