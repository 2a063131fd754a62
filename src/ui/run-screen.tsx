/** One run on screen: what happened beside what was measured. */

import { Charts } from './charts.tsx';
import { Heatmap } from './heatmap.tsx';
import { RunHead } from './run-head.tsx';
import type { RunView } from './run-view.ts';
import { useLab } from './store.ts';
import { runScreen as say } from './strings.ts';
import { Transcript } from './transcript.tsx';
import { WorldPanel } from './world-panel.tsx';

export function RunScreen({ run }: { run: RunView }) {
  const lower = useLab((state) => state.reading.lower);
  return (
    <>
      <section className="middle" aria-label={say.run}>
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
