/** What can be done with the step on screen: link to it, read its record, see the world, write a note, go on from it. */

import { useState } from 'react';
import type { EpisodeEvent, StepTaken } from '../records.ts';
import { copyAddress } from './address.ts';
import { ForkDialog } from './fork-dialog.tsx';
import { Icon } from './icons.tsx';
import { RecordDialog } from './record-dialog.tsx';
import { onlyReads, shownRun } from './state.ts';
import { StepNoteField } from './step-note.tsx';
import { dispatch, useLab } from './store.ts';
import { stepTools as say } from './strings.ts';

export function StepTools({ step }: { step: StepTaken }) {
  const run = useLab(shownRun);
  const [open, setOpen] = useState<'record' | 'fork' | 'note' | null>(null);
  const [copied, setCopied] = useState(false);
  const readsOnly = useLab(onlyReads);
  const looked = useLab(({ selected, reading: { boundary } }) =>
    selected === step.t ? boundary : null,
  );
  if (!run) return null;
  const records: readonly EpisodeEvent[] = run.items.filter((item) => item.t === step.t);
  return (
    // The step behind it reacts to clicks as well.
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside are the controls
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div className="step-tools" onClick={(event) => event.stopPropagation()}>
      <button
        type="button"
        className="button bare small"
        data-tip={say.linkHelp}
        onClick={() => void copyAddress(run, step.t, looked).then(setCopied)}
      >
        <Icon name="link" />
        {copied ? say.copied : say.link}
      </button>
      <button
        type="button"
        className="button bare small"
        data-tip={say.jsonHelp}
        onClick={() => setOpen('record')}
      >
        <Icon name="braces" />
        {say.json}
      </button>
      <button
        type="button"
        className="button bare small"
        data-tip={say.worldHelp}
        onClick={() => dispatch({ type: 'lower_panel', panel: 'world' })}
      >
        <Icon name="house" />
        {say.world}
      </button>
      <button
        type="button"
        className="button bare small"
        data-tip={say.forkHelp}
        onClick={() => setOpen('fork')}
      >
        <Icon name="fork" />
        {say.fork}
      </button>
      {run.id !== null && (
        <button
          type="button"
          className="button bare small"
          data-note
          disabled={readsOnly}
          data-tip={say.noteHelp}
          onClick={() => {
            // A live run would go on to its next step, and take the field away.
            dispatch({ type: 'step_selected', t: step.t });
            setOpen('note');
          }}
        >
          <Icon name="pen" />
          {say.note}
        </button>
      )}
      {open === 'note' && <StepNoteField t={step.t} onClose={() => setOpen(null)} />}
      {open === 'fork' && <ForkDialog run={run} t={step.t} onClose={() => setOpen(null)} />}
      {open === 'record' && (
        <RecordDialog title={say.step(step.t)} records={records} onClose={() => setOpen(null)} />
      )}
    </div>
  );
}
