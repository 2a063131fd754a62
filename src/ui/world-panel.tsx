/** The world after the step on screen, replayed from the recorded actions; how it is drawn follows from its kind. */

import { useEffect, useMemo, useRef, useState } from 'react';
import type { WorldSketch } from '../records.ts';
import { engine } from './engine.ts';
import { EnlargeButton } from './enlarge-button.tsx';
import { attempt } from './report.ts';
import type { RunView } from './run-view.ts';
import { shownStep } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { worldPanel as say } from './strings.ts';
import { firstDifference } from './world.ts';
import { type KnownWorlds, nextQuestion, withAnswer } from './world-history.ts';
import { PlacesHead, PlacesView } from './world-places.tsx';
import { ProgramHead, ProgramView } from './world-program.tsx';
import './world-panel.css';

export function WorldPanel({ run }: { run: RunView }) {
  const t = useLab(shownStep);
  const { sketches, state } = useWorlds(run);
  const world = sketches[t] ?? null;
  const before = sketches[t - 1] ?? null;
  const broken = useMemo(() => firstDifference(run, sketches), [run, sketches]);
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
      {world === null && <p className="heatmap-empty">{missing[state]}</p>}
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

/** What stands in place of a world that is not here. */
const missing = {
  asking: say.replayingActions,
  failed: say.notReplayed,
  all: say.notShown,
} as const;

interface Worlds {
  /** Of the start and of the steps so far as they are here. */
  readonly sketches: readonly WorldSketch[];
  readonly state: 'asking' | 'all' | 'failed';
}

/** The worlds of a run, asked for one part after another, so that steps which come meanwhile wait for their turn. */
function useWorlds(run: RunView): Worlds {
  const [known, setKnown] = useState<KnownWorlds | null>(null);
  const [failed, setFailed] = useState<RunView['steps'] | null>(null);
  /** The start of the run that a question is about which has no answer yet. */
  const asked = useRef<RunView['started'] | null>(null);
  const ready = useLab((state) => state.engine === 'ready');
  const { started, steps } = run;
  const question = useMemo(() => nextQuestion(known, { started, steps }), [known, started, steps]);
  useEffect(() => {
    if (!ready || !question || failed === steps || asked.current === started) return;
    asked.current = started;
    void attempt(say.replayFailed, async () => {
      let done = false;
      try {
        const answer = await engine().call('worldHistory', question);
        done = true;
        if (asked.current === started)
          setKnown((now) => withAnswer(now, started, question, answer));
      } finally {
        if (asked.current === started) {
          asked.current = null;
          if (!done) setFailed(steps);
        }
      }
    });
  }, [ready, question, failed, started, steps]);
  const sketches = known?.started === started ? known.sketches : [];
  const state = question === null ? 'all' : failed === steps ? 'failed' : 'asking';
  return useMemo(() => ({ sketches, state }), [sketches, state]);
}
