/** How a transcript begins and ends: what the policy was given, the step in progress, the end of the run. */

import type { EpisodeEnded } from '../records.ts';
import { Mark } from './icons.tsx';
import type { LiveRun } from './live.ts';
import { plural, valueText } from './numbers.ts';
import { endWording, phaseText, type RunView } from './run-view.ts';
import { isRunning } from './state.ts';
import { useLab } from './store.ts';
import { transcript as say } from './strings.ts';

export function First({ run }: { run: RunView }) {
  return (
    <details className="first">
      <summary>
        {say.given} <span className="aside">{plural(run.started.promptIds.length, 'token')}</span>
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

/** The step in progress, or how the run ended. */
export function Last({ run }: { run: RunView }) {
  const live = useLab((state) => (state.opened || !isRunning(state) ? null : state.live));
  if (run.ended) return <End ended={run.ended} />;
  return live ? <Live live={live} /> : <Cut />;
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
          <p className="aside">{say.paused}</p>
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
      {ended.noReflection && <p>{ended.noReflection}</p>}
      {ended.reflection && (
        <>
          <p className="aside">{say.reflection}</p>
          <p className="reflection">{ended.reflection.text.trim() || say.reflectionEmpty}</p>
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
        <strong>{say.cut}</strong>
      </p>
      <p>{say.cutHelp}</p>
    </div>
  );
}
