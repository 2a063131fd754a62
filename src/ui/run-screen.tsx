/** One run on screen: what happened beside what was measured. */

import { Charts } from './charts.tsx';
import { Heatmap } from './heatmap.tsx';
import { RunHead } from './run-head.tsx';
import type { RunView } from './run-view.ts';
import { isCode } from './state.ts';
import { useLab } from './store.ts';
import { runScreen as say } from './strings.ts';
import { Transcript } from './transcript.tsx';
import { WorldPanel } from './world-panel.tsx';

export function RunScreen({ run }: { run: RunView }) {
  const lower = useLab((state) => state.reading.lower);
  const code = useLab((state) => isCode(state, run.started.task.env));
  return (
    <>
      <section className="middle" aria-label={say.run} data-code={code || undefined}>
        <RunHead run={run} />
        <Transcript key={run.started.manifest.appVersion + (run.id ?? run.name)} run={run} />
      </section>
      <section className="right" aria-label={say.measurements}>
        <Charts run={run} />
        {lower === 'world' ? <WorldPanel run={run} /> : <Heatmap run={run} />}
      </section>
    </>
  );
}
