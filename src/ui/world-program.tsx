/** A program under repair: what the step changed, what all steps changed, and the tests. */

import { useState } from 'react';
import type { ProgramSketch } from '../records.ts';
import { DiffText } from './diff-text.tsx';
import { Segments } from './segments.tsx';
import { worldPanel as say } from './strings.ts';
import './world-program.css';

/** How many tests pass, and what came of handing in. */
export function ProgramHead({ world }: { world: ProgramSketch }) {
  const passed = world.tests.filter((test) => test.passed).length;
  const ended = world.outcome === null ? '' : ` · ${say.handedIn[world.outcome]}`;
  return `${say.testsPass(passed, world.tests.length)}${ended}`;
}

export function ProgramView({
  world,
  before,
}: {
  world: ProgramSketch;
  before: ProgramSketch | null;
}) {
  const [whole, setWhole] = useState(false);
  const diff = whole ? world.patch : world.change;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard
    <section className="program" tabIndex={0} aria-label={say.program}>
      <Segments
        legend={say.whichDiff}
        options={[
          { value: false, label: say.diffOfStep },
          { value: true, label: say.diffOfAll },
        ]}
        value={whole}
        onChange={setWhole}
      />
      {diff === '' ? (
        <p className="aside program-none">{whole ? say.unchanged : say.stepUnchanged}</p>
      ) : (
        <DiffText diff={diff} />
      )}
      <h4>{say.tests}</h4>
      <ul className="program-tests">
        {world.tests.map((test, i) => {
          const was = before?.tests[i]?.passed ?? test.passed;
          return (
            <li key={`${test.hidden} ${test.name}`} data-passed={test.passed}>
              <span className="verdict">{test.passed ? say.passes : say.fails}</span>
              <span>
                {test.name}
                {test.hidden && <span className="aside"> {say.hiddenTest}</span>}
                {was !== test.passed && <strong> {say.sinceThisStep}</strong>}
                {test.message !== '' && <code className="why">{test.message}</code>}
              </span>
            </li>
          );
        })}
      </ul>
      <p className="heatmap-note">{say.programLegend}</p>
    </section>
  );
}
