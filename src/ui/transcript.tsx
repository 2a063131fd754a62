/** What the agent thought, did and saw, step by step, with a card at every boundary; follows a live run. */

import { memo, type UIEvent, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import type { EpisodeEnded, RolledBack, StepTaken } from '../records.ts';
import { BoundaryCard } from './boundary-card.tsx';
import { passes } from './find.ts';
import { FindBar } from './find-bar.tsx';
import { Found } from './found.tsx';
import { Icon, Mark } from './icons.tsx';
import type { LiveRun } from './live.ts';
import { plural, valueText } from './numbers.ts';
import { actionWording, endWording, phaseText, type RunView } from './run-view.ts';
import { isRunning, shownStep } from './state.ts';
import { StepTools } from './step-tools.tsx';
import { dispatch, useLab } from './store.ts';
import { transcript as say } from './strings.ts';
import { Term } from './tip.tsx';
import './transcript.css';

/** This close to the end counts as being at the end. */
const nearEnd = 24;

export function Transcript({ run }: { run: RunView }) {
  const following = useLab((state) => state.following);
  const selected = useLab((state) => state.selected);
  const current = useLab(shownStep);
  const live = useLab((state) => (state.opened ? null : state.live));
  const running = useLab(isRunning) && live !== null;
  const find = useLab((state) => state.reading.find);
  const filter = useLab((state) => state.reading.filter);
  const items = useMemo(
    () => run.items.filter((item) => passes(item, filter)),
    [run.items, filter],
  );
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  /** The last place that this component scrolled to by itself. */
  const ownTop = useRef(0);

  // Steps get their true height only when they are drawn, so the end moves after it was scrolled to.
  const tail = following && live !== null;
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!tail || !box || !content.current) return;
    const observer = new ResizeObserver(() => {
      box.scrollTop = box.scrollHeight;
      ownTop.current = box.scrollTop;
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [tail]);

  const wasFollowing = useRef(following);
  useEffect(() => {
    const box = scroller.current;
    if (box && following && !wasFollowing.current) box.scrollTop = box.scrollHeight;
    wasFollowing.current = following;
  }, [following]);

  useEffect(() => {
    if (selected === null) return;
    scroller.current
      ?.querySelector(`[data-step="${selected}"]`)
      ?.scrollIntoView({ block: 'nearest' });
  }, [selected]);

  const onScroll = (event: UIEvent<HTMLElement>) => {
    const box = event.currentTarget;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd;
    if (atEnd && running && selected === null && !following) dispatch({ type: 'follow', on: true });
    if (!atEnd && following && box.scrollTop < ownTop.current - 2) {
      dispatch({ type: 'follow', on: false });
    }
  };

  return (
    <div className="transcript">
      <FindBar run={run} shown={items.length} />
      <section
        ref={scroller}
        className="transcript-scroll"
        aria-label={say.transcript}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard
        tabIndex={0}
        onScroll={onScroll}
      >
        <div ref={content}>
          <First run={run} />
          <ol>
            {items.map((item) => {
              switch (item.type) {
                case 'step':
                  return (
                    <Step
                      key={item.seq}
                      run={run}
                      step={item}
                      current={item.t === current}
                      find={find}
                    />
                  );
                case 'boundary':
                  return (
                    <BoundaryCard
                      key={item.seq}
                      boundary={item}
                      settings={run.started.manifest.settings}
                      find={find}
                    />
                  );
                case 'rolled_back':
                  return <ManualRollback key={item.seq} event={item} />;
                default:
                  return item satisfies never;
              }
            })}
          </ol>
          {items.length === 0 && run.items.length > 0 && (
            <p className="none-shown">{say.noPartRunPassesFilter}</p>
          )}
          {run.ended ? <End ended={run.ended} /> : live && running ? <Live live={live} /> : <Cut />}
        </div>
      </section>
      {running && !following && (
        <button
          type="button"
          className="button small follow"
          onClick={() => dispatch({ type: 'follow', on: true })}
        >
          <Icon name="down" />
          {say.followRun}
        </button>
      )}
    </div>
  );
}

function First({ run }: { run: RunView }) {
  return (
    <details className="first">
      <summary>
        {say.whatPolicyGivenFirst}{' '}
        <span className="aside">{plural(run.started.promptIds.length, 'token')}</span>
      </summary>
      {run.started.messages.map((message, index) => (
        <div key={index} className="message">
          <span className="role">{message.role}</span>
          <pre>{message.content}</pre>
        </div>
      ))}
    </details>
  );
}

interface StepProps {
  readonly run: RunView;
  readonly step: StepTaken;
  readonly current: boolean;
  readonly find: string;
}

const Step = memo(function Step({ run, step, current, find }: StepProps) {
  const wording = actionWording(step.actionClass);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: steps are chosen by keyboard with the arrow keys of the page
    <li
      className={`step ${wording.tone}`}
      data-step={step.t}
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
            <Found text={step.thought} find={find} />
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
          <Found text={step.observation} find={find} />
        </p>
        {current && <StepTools run={run} step={step} />}
      </div>
      <span
        className="step-repetition"
        data-tip={say.repetitionLargestSimilarityWords(
          valueText(step.repetition),
          plural(step.generation.ids.length, 'token'),
        )}
      >
        <span className="unseen">{say.repetition}</span>
        {valueText(step.repetition)}
        <span className="gauge" aria-hidden="true">
          <span style={{ width: `${step.repetition * 100}%` }} />
        </span>
      </span>
    </li>
  );
}, sameStep);

/** The run of a step grows with every event; the step itself only needs it for its tools. */
function sameStep(before: StepProps, after: StepProps): boolean {
  return (
    before.step === after.step &&
    before.current === after.current &&
    before.find === after.find &&
    (!after.current || before.run === after.run)
  );
}

function ManualRollback({ event }: { event: RolledBack }) {
  return (
    <li className="card note">
      <p className="card-head">
        <Mark tone="note" />
        <strong>
          <Term name="rollback">{say.rolledBack}</Term> {say.youAfterStep(event.t)}
        </strong>
      </p>
      <p>{event.restored ? say.adapterEpisodeStart : say.thereNothingUndoAdapter}</p>
    </li>
  );
}

/** The step in progress. Its room is reserved, so that nothing moves while it fills. */
function Live({ live }: { live: LiveRun }) {
  const { writing, phase } = live;
  const t = writing?.t ?? phase?.t ?? (live.view?.steps.at(-1)?.t ?? 0) + 1;
  return (
    <div className="live">
      <span className="step-number">{t}</span>
      <div className="step-body">
        {live.status === 'paused' ? (
          <p className="aside">{say.pausedResumeGoesStep}</p>
        ) : writing ? (
          <p className="stream">
            {writing.text}
            <span className="caret" aria-hidden="true" />
          </p>
        ) : (
          <p className="aside">{capital(phase ? phaseText(phase.phase) : say.working)}…</p>
        )}
        {phase && phase.total > 1 && (
          <progress
            aria-label={capital(phaseText(phase.phase))}
            max={phase.total}
            value={phase.done}
          />
        )}
      </div>
      <span className="step-repetition">{writing ? plural(writing.tokens, 'token') : ''}</span>
    </div>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function End({ ended }: { ended: EpisodeEnded }) {
  const wording = endWording(ended.reason);
  return (
    <div className={`card end ${wording.tone}`}>
      <p className="card-head">
        <Mark tone={wording.tone} />
        <strong>{say.after(wording.label, plural(ended.t, 'step'))}</strong>
        <span className="aside">{say.reward(valueText(ended.reward))}</span>
      </p>
      <p>{ended.error ? ended.error.message : wording.help}</p>
      <p className="aside">
        {plural(ended.updates, 'update')}, {plural(ended.rollbacks, 'rollback')}.
      </p>
      {ended.reflection && (
        <>
          <p className="aside">{say.wroteForNextTry}</p>
          <p className="reflection">{ended.reflection.text.trim() || say.wroteNothing}</p>
        </>
      )}
    </div>
  );
}

/** A stored run without an end: the tab was closed in the middle. */
function Cut() {
  return (
    <div className="card end quiet">
      <p className="card-head">
        <Mark tone="quiet" />
        <strong>{say.recordEnds}</strong>
      </p>
      <p>{say.runInterruptedBeforeEnd}</p>
    </div>
  );
}
