/** Two of the chosen runs step by step, with the first step at which they act differently. */

import { useMemo, useRef, useState } from 'react';
import type { StepTaken } from '../records.ts';
import { taskOf } from './compare-numbers.ts';
import { Mark } from './icons.tsx';
import { firstDivergence, pairSteps, stepOf } from './pairing.ts';
import { actionWording, type RunView } from './run-view.ts';
import { sideBySide as say } from './strings.ts';

export function SideBySide({ runs }: { runs: readonly RunView[] }) {
  const [left, setLeft] = useState(0);
  const [right, setRight] = useState(1);
  const [a, b] = [runs[left] ?? runs[0], runs[right] ?? runs[1]];
  const pairs = useMemo(() => (a && b ? pairSteps(a, b) : []), [a, b]);
  const list = useRef<HTMLDivElement>(null);
  const divergence = firstDivergence(pairs);
  const parting = divergence === null ? undefined : pairs[divergence];
  const lastLeft = pairs.findLastIndex((pair) => pair.left);
  const lastRight = pairs.findLastIndex((pair) => pair.right);
  if (!a || !b) return null;
  const sameTask = taskOf(a) === taskOf(b);
  const choose = (label: string, value: number, set: (index: number) => void) => (
    <select aria-label={label} value={value} onChange={(event) => set(Number(event.target.value))}>
      {runs.map((run, index) => (
        <option key={index} value={index}>
          {say.run(
            index + 1,
            run.started.manifest.settings.method,
            run.started.manifest.settings.seed,
          )}
        </option>
      ))}
    </select>
  );
  return (
    <section className="compare-part" aria-labelledby="side-title">
      <div className="compare-bar">
        <h3 id="side-title">{say.title}</h3>
        {choose(say.runLeft, left, setLeft)}
        {choose(say.runRight, right, setRight)}
        {!parting ? (
          <span>{say.alike}</span>
        ) : (
          <button
            type="button"
            className="link"
            onClick={() =>
              list.current
                ?.querySelector(`[data-pair="${divergence}"]`)
                ?.scrollIntoView({ block: 'center' })
            }
          >
            {say.partAt(stepOf(parting))}
          </button>
        )}
        {!sameTask && <span className="aside">{say.differentTasks}</span>}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard */}
      <div className="pairs" ref={list} tabIndex={0}>
        <ol>
          {pairs.map((pair, place) => (
            <li
              key={place}
              data-pair={place}
              className={pair.sameAction ? 'pair' : 'pair apart'}
              data-first={place === divergence || undefined}
            >
              <Half step={pair.left} ended={place > lastLeft} />
              <Half step={pair.right} ended={place > lastRight} />
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** A run's half of a pair; empty where it has no step to set beside the other's. */
function Half({ step, ended }: { step: StepTaken | null; ended: boolean }) {
  if (!step) return <p className="aside half">{ended && say.ended}</p>;
  const wording = actionWording(step.actionClass);
  return (
    <div className="half">
      <span className="step-number">{step.t}</span>
      <p className="thought">{step.thought}</p>
      <p className="action">
        <code>{step.action || say.none}</code>
        {wording.tone !== 'good' && (
          <span className="class-mark">
            <Mark tone={wording.tone} />
            {wording.label}
          </span>
        )}
      </p>
      <p className="observation">{step.observation}</p>
    </div>
  );
}
