/** The world after the step on screen, replayed from the recorded actions; how it is drawn follows from its kind. */

import { useEffect, useMemo, useState } from 'react';
import type { WorldSketch } from '../records.ts';
import { engine } from './engine.ts';
import { EnlargeButton } from './enlarge-button.tsx';
import { attempt } from './report.ts';
import type { RunView } from './run-view.ts';
import { shownStep } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { worldPanel as say } from './strings.ts';
import { firstDifference } from './world.ts';
import { PlacesHead, PlacesView } from './world-places.tsx';
import { ProgramHead, ProgramView } from './world-program.tsx';
import './world-panel.css';

export function WorldPanel({ run }: { run: RunView }) {
  const t = useLab(shownStep);
  const worlds = useWorlds(run);
  const world = worlds?.[t] ?? null;
  const before = worlds?.[t - 1] ?? null;
  const broken = useMemo(() => (worlds ? firstDifference(run, worlds) : null), [run, worlds]);
  return (
    <section className="world" aria-labelledby="world-title">
      <div className="heatmap-head">
        <h3 id="world-title">{world?.kind === 'program' ? say.programTitle(t) : say.title(t)}</h3>
        <span className="aside world-holding">
          {world?.kind === 'places' && <PlacesHead run={run} world={world} t={t} />}
          {world?.kind === 'program' && <ProgramHead world={world} />}
        </span>
        <button
          type="button"
          className="button small"
          onClick={() => dispatch({ type: 'lower_panel', panel: 'tokens' })}
        >
          {say.backTokens}
        </button>
        <EnlargeButton panel="lower" />
      </div>
      {worlds?.length === 0 && <p className="heatmap-empty">{say.notShown}</p>}
      {worlds === null && <p className="heatmap-empty">{say.replayingActions}</p>}
      {broken !== null && broken <= t && (
        <p className="heatmap-note warn-text">{say.diverged(broken)}</p>
      )}
      {world?.kind === 'places' && (
        <PlacesView
          run={run}
          world={world}
          before={before?.kind === 'places' ? before : null}
          t={t}
        />
      )}
      {world?.kind === 'program' && (
        <ProgramView world={world} before={before?.kind === 'program' ? before : null} />
      )}
    </section>
  );
}

/** The worlds of all steps; null until they are here. Asked for again when the run has grown. */
function useWorlds(run: RunView): readonly WorldSketch[] | null {
  const [worlds, setWorlds] = useState<readonly WorldSketch[] | null>(null);
  const ready = useLab((state) => state.engine === 'ready');
  const { steps, started } = run;
  useEffect(() => {
    if (!ready) return;
    let wanted = true;
    const actions = steps.map(({ action }) => action);
    void attempt(say.replayFailed, async () => {
      const found = await engine().call('worldHistory', { task: started.task, actions });
      if (wanted) setWorlds(found);
    });
    return () => {
      wanted = false;
    };
  }, [steps, started, ready]);
  return worlds;
}
