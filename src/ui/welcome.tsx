/** The first minute: one button, one sentence about what happens, and a small worked example. */

import { openDemo, openRun } from './actions.ts';
import { ProbeSteps } from './capabilities.tsx';
import { Icon } from './icons.tsx';
import { isBundled, shortName } from './load.ts';
import { plural } from './numbers.ts';
import { resumeRun, startRun } from './running.ts';
import { onlyReads } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { welcome as say } from './strings.ts';
import { Prose } from './tip.tsx';
import { paint } from './tokens.ts';
import { startTour } from './tour.tsx';
import './welcome.css';

export function Welcome() {
  const engine = useLab((state) => state.engine);
  const loading = useLab((state) => state.loading);
  const live = useLab((state) => state.live);
  const model = useLab((state) => state.model);
  const named = useLab((state) => state.settings.policy_model);
  const readsOnly = useLab(onlyReads);
  const starting = live !== null && live.status !== 'ended';
  const capabilities = useLab((state) => state.capabilities);
  const missing = capabilities?.steps.filter((step) => !step.ok) ?? [];
  return (
    <section className="welcome" aria-labelledby="welcome-title">
      <div className="welcome-inner">
        <Offer />
        <h2 id="welcome-title">{say.title}</h2>
        <p className="lead">
          <Prose text={say.lead} /> <WhatLeaves />
        </p>
        <div className="welcome-buttons">
          <button
            type="button"
            className="button primary big"
            disabled={engine !== 'ready' || loading !== null || starting || readsOnly}
            onClick={() => void startRun('run')}
          >
            <Icon name="play" />
            {starting
              ? say.starting
              : loading
                ? say.loadingModel
                : model
                  ? say.run(model.name)
                  : isBundled(named)
                    ? say.runBundledPolicy
                    : say.run(shortName(named))}
          </button>
          <button type="button" className="button big" onClick={() => void openDemo()}>
            {say.openDemo}
          </button>
          <button type="button" className="button bare big" onClick={() => void startTour()}>
            {say.takeTour}
          </button>
        </div>
        <ol className="idea">
          <li>
            <h3>{say.act}</h3>
            <p>
              <Prose text={say.actText} />
            </p>
          </li>
          <li>
            <h3>{say.learn}</h3>
            <p>
              <Prose text={say.learnText} />
            </p>
          </li>
          <li>
            <h3>{say.guard}</h3>
            <p>
              <Prose text={say.guardText} />
            </p>
          </li>
        </ol>
        <Example />
        {missing.length > 0 && (
          <details className="welcome-probe">
            <summary>
              {capabilities?.backend === 'webgpu'
                ? missing.length === 1
                  ? say.oneThingMissing
                  : say.thingsMissing(missing.length)
                : say.noWebgpu}
            </summary>
            <ProbeSteps steps={missing} />
          </details>
        )}
      </div>
    </section>
  );
}

/** Where what is written here goes: nowhere, but for servers that the person connected. */
function WhatLeaves() {
  const served = useLab((state) => state.model?.endpoint ?? null);
  const summaries = useLab((state) => state.summaryServer?.baseUrl ?? null);
  if (served === null && summaries === null) return say.nothingLeaves;
  return (
    <>
      {served !== null && say.conversationGoesTo(served)}{' '}
      {summaries !== null && say.summariesGoTo(summaries)}
    </>
  );
}

/** A run that the last visit left unfinished. */
function Offer() {
  const run = useLab((state) => state.runs.find((one) => one.id === state.notebook.offered));
  const writing = useLab((state) => state.notebook.writer === 'this_tab');
  if (!run || !writing) return null;
  return (
    <section className="offer" aria-label={say.interruptedRun}>
      <p>
        <strong>{run.goal || say.runTitle}</strong>{' '}
        {say.interruptedAfter(plural(run.steps, 'step'))}
      </p>
      <div>
        <button
          type="button"
          className="button primary small"
          onClick={() => void resumeRun(run.id)}
        >
          {say.resumeStep(run.steps)}
        </button>
        <button
          type="button"
          className="button small"
          onClick={() => {
            dispatch({ type: 'resume_offered', id: null });
            void openRun(run.id);
          }}
        >
          {say.read}
        </button>
        <button
          type="button"
          className="button bare small"
          onClick={() => dispatch({ type: 'resume_offered', id: null })}
        >
          {say.notNow}
        </button>
      </div>
    </section>
  );
}

/** Three earlier occurrences make a third, none makes one: the weights of a repeated and a new action. */
const example: readonly (readonly [string, number])[] = [
  ['I', 1 / 3],
  [' need', 1 / 3],
  [' to', 1 / 3],
  [' find', 1 / 3],
  [' a', 1 / 3],
  [' potato', 1 / 3],
  ['.', 0.5],
  [' The', 1],
  [' fridge', 1],
  [' is', 1],
  [' closed', 1],
  [',', 1],
  [' so', 1],
  [' open', 1],
  [' it', 1],
  ['.', 1],
];

function paintOf(weight: number, dark: boolean) {
  return paint(weight, { low: 0, high: 1, diverging: false }, 'weight', dark);
}

function Example() {
  return (
    <figure className="example">
      <p>
        {example.map(([piece, weight], index) => {
          const [light, dark] = [paintOf(weight, false), paintOf(weight, true)];
          const background = `light-dark(${light.background}, ${dark.background})`;
          return (
            <span
              key={index}
              style={{ background, color: `light-dark(${light.ink}, ${dark.ink})` }}
            >
              {piece}
            </span>
          );
        })}
      </p>
      <figcaption>{say.exampleCaption}</figcaption>
    </figure>
  );
}
