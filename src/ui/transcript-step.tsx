/** One step of the transcript: what the agent thought, did and saw; and a rollback that a person asked for. */

import { memo } from 'react';
import type { RolledBack, StepTaken } from '../records.ts';
import { Found } from './found.tsx';
import { Mark } from './icons.tsx';
import { LongText } from './long-text.tsx';
import { plural, secondText, valueText } from './numbers.ts';
import { actionWording } from './run-view.ts';
import { shownStep } from './state.ts';
import { StepNote } from './step-note.tsx';
import { StepTools } from './step-tools.tsx';
import { dispatch, useLab } from './store.ts';
import { transcript as say } from './strings.ts';
import { Term } from './tip.tsx';

/** Where an item is in the whole list, for those who hear it; empty where all of it is drawn. */
export interface PlaceInList {
  readonly 'aria-posinset'?: number;
  readonly 'aria-setsize'?: number;
}

interface StepProps {
  readonly step: StepTaken;
  readonly find: string;
  readonly place: PlaceInList;
}

/** Knows by itself whether it is the step on screen: moving along the steps draws two of them anew. */
export const Step = memo(function Step({ step, find, place }: StepProps) {
  const current = useLab((state) => shownStep(state) === step.t);
  const wording = actionWording(step.actionClass);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: steps are chosen by keyboard with the arrow keys of the page
    <li
      className={`step ${wording.tone}`}
      data-step={step.t}
      {...place}
      aria-current={current ? 'step' : undefined}
      onClick={() => {
        if (window.getSelection()?.isCollapsed !== false) {
          dispatch({ type: 'step_selected', t: step.t });
        }
      }}
    >
      <span className="step-number">{step.t}</span>
      <div className="step-body">
        {step.thought && (
          <p className="thought">
            <LongText text={step.thought} find={find} />
          </p>
        )}
        <p className="action">
          {step.action ? (
            <code>
              <Found text={step.action} find={find} />
            </code>
          ) : (
            <code className="raw">{(step.thought === '' && step.generation.text) || say.none}</code>
          )}
          {wording.tone !== 'good' && (
            <span className="class-mark" data-tip={wording.help}>
              <Mark tone={wording.tone} />
              {wording.label}
            </span>
          )}
        </p>
        <p className="observation">
          <LongText text={step.observation} find={find} />
        </p>
        <StepNote t={step.t} />
        {current && <StepTools step={step} />}
      </div>
      <span
        className="step-repetition"
        data-tip={`${say.repetitionHelp(
          valueText(step.repetition),
          plural(step.generation.ids.length, 'token'),
        )}${step.clock ? say.recorded(valueText(step.clock.seconds), secondText(step.clock.at)) : ''}`}
      >
        <span className="unseen">{say.repetition}</span>
        {valueText(step.repetition)}
        <span className="gauge" aria-hidden="true">
          <span style={{ width: `${step.repetition * 100}%` }} />
        </span>
      </span>
    </li>
  );
});

export function ManualRollback({ event, place }: { event: RolledBack; place: PlaceInList }) {
  return (
    <li className="card note" {...place}>
      <p className="card-head">
        <Mark tone="note" />
        <strong>
          <Term name="rollback">{say.rolledBack}</Term> {say.byYou(event.t)}
        </strong>
      </p>
      <p>{event.restored ? say.restored : say.nothingToUndo}</p>
    </li>
  );
}
