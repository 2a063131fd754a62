/** What a person wrote beside a step, and the field in which it is written. */

import { useRef } from 'react';
import { Icon } from './icons.tsx';
import { noteStep, stepNotes } from './notes.ts';
import { shownRun } from './state.ts';
import { useLab } from './store.ts';
import { stepNote as say } from './strings.ts';

export function StepNote({ t }: { t: number }) {
  const note = useLab((state) => stepNotes(state)[t]);
  if (note === undefined) return null;
  return (
    <p className="step-note">
      <Icon name="pen" />
      <span className="unseen">{say.note(t)}: </span>
      {note}
    </p>
  );
}

/** Enter or going elsewhere keeps what was written, Escape leaves it as it was. */
export function StepNoteField({ t, onClose }: { t: number; onClose: () => void }) {
  const id = useLab((state) => shownRun(state)?.id ?? null);
  const note = useLab((state) => stepNotes(state)[t] ?? '');
  const left = useRef(false);
  if (id === null) return null;
  return (
    <input
      className="step-note-field"
      aria-label={say.note(t)}
      placeholder={say.placeholder}
      defaultValue={note}
      // biome-ignore lint/a11y/noAutofocus: it opens by a button, to be written into
      autoFocus
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        event.preventDefault();
        left.current = event.key === 'Escape';
        event.currentTarget.blur();
      }}
      onBlur={(event) => {
        const text = event.target.value.trim();
        if (!left.current && text !== note) void noteStep(id, t, text);
        onClose();
      }}
    />
  );
}
