/** The first minute: one button, one sentence about what happens, and a small worked example. */

import { openDemo, openRun } from './actions.ts';
import { ProbeSteps } from './capabilities.tsx';
import { Icon } from './icons.tsx';
import { plural } from './numbers.ts';
import { resumeRun, startRun } from './running.ts';
import { dispatch, useLab } from './store.ts';
import { useDark } from './theme.ts';
import { Term } from './tip.tsx';
import { paint } from './tokens.ts';
import { startTour } from './tour.tsx';
import './welcome.css';

export function Welcome() {
  const engine = useLab((state) => state.engine);
  const loading = useLab((state) => state.loading);
  const live = useLab((state) => state.live);
  const model = useLab((state) => state.model);
  const reading = useLab((state) => state.notebook.writer === 'other_tab');
  const starting = live !== null && live.status !== 'ended';
  const capabilities = useLab((state) => state.capabilities);
  const missing = capabilities?.steps.filter((step) => !step.ok) ?? [];
  return (
    <section className="welcome" aria-labelledby="welcome-title">
      <div className="welcome-inner">
        <Offer />
        <h2 id="welcome-title">Watch a language model learn while it acts</h2>
        <p className="lead">
          A small model looks for things in a simulated household, starts to repeat itself, and a{' '}
          <Term name="lora">LoRA adapter</Term> is trained on its own words, right here in this tab,
          each word weighed by how new it is. Nothing leaves your computer, unless you connect a
          server.
        </p>
        <div className="welcome-buttons">
          <button
            type="button"
            className="button primary big"
            disabled={engine !== 'ready' || loading !== null || starting || reading}
            onClick={() => void startRun('run')}
          >
            <Icon name="play" />
            {starting
              ? 'Starting…'
              : loading
                ? 'Loading the model…'
                : model
                  ? `Run ${model.name}`
                  : 'Run the bundled policy'}
          </button>
          <button type="button" className="button big" onClick={() => void openDemo()}>
            Open a recorded run
          </button>
          <button type="button" className="button bare big" onClick={() => void startTour()}>
            Take the tour
          </button>
        </div>
        <ol className="idea">
          <li>
            <h3>Act</h3>
            <p>
              At each step the <Term name="policy">policy</Term> writes a{' '}
              <Term name="thought">thought</Term> and one <Term name="action">action</Term>; the
              world answers with an <Term name="observation">observation</Term>.
            </p>
          </li>
          <li>
            <h3>Weigh and learn</h3>
            <p>
              Every few steps the adapter is trained on the last text. A repeated{' '}
              <Term name="ngram">n-gram</Term> counts little, a new one fully.
            </p>
          </li>
          <li>
            <h3>Guard</h3>
            <p>
              Too much <Term name="ratio">repetition</Term> or <Term name="kl">drift</Term> puts the
              adapter back to the start of the episode: a <Term name="rollback">rollback</Term>.
            </p>
          </li>
        </ol>
        <Example />
        {missing.length > 0 && (
          <details className="welcome-probe">
            <summary>
              {capabilities?.backend === 'webgpu'
                ? `This browser offers WebGPU; ${missing.length} other thing${missing.length === 1 ? ' is' : 's are'} missing`
                : 'No WebGPU here: the model runs on the processor, slower'}
            </summary>
            <ProbeSteps steps={missing} />
          </details>
        )}
      </div>
    </section>
  );
}

/** A run that the last visit left unfinished. */
function Offer() {
  const run = useLab((state) => state.runs.find((one) => one.id === state.notebook.offered));
  const writing = useLab((state) => state.notebook.writer === 'this_tab');
  if (!run || !writing) return null;
  return (
    <section className="offer" aria-label="An interrupted run">
      <p>
        <strong>{run.goal || 'A run'}</strong> was interrupted after {plural(run.steps, 'step')}.
        Everything up to there is kept.
      </p>
      <div>
        <button
          type="button"
          className="button primary small"
          onClick={() => void resumeRun(run.id)}
        >
          Resume from step {run.steps}
        </button>
        <button
          type="button"
          className="button small"
          onClick={() => {
            dispatch({ type: 'resume_offered', id: null });
            void openRun(run.id);
          }}
        >
          Read it
        </button>
        <button
          type="button"
          className="button bare small"
          onClick={() => dispatch({ type: 'resume_offered', id: null })}
        >
          Not now
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

function Example() {
  const dark = useDark();
  return (
    <figure className="example">
      <p>
        {example.map(([piece, weight], index) => {
          const { background, ink } = paint(
            weight,
            { low: 0, high: 1, diverging: false },
            'weight',
            dark,
          );
          return (
            <span key={index} style={{ background, color: ink }}>
              {piece}
            </span>
          );
        })}
      </p>
      <figcaption>
        The words that were written twice before weigh 1 / (1 + 2) = 0.33, the new ones 1.
      </figcaption>
    </figure>
  );
}
