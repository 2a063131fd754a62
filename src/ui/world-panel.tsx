/** The world after the step on screen, replayed from the recorded actions, and what the agent has seen of it. */

import { useEffect, useMemo, useState } from 'react';
import type { WorldSketch, WorldThing } from '../records.ts';
import { engine } from './engine.ts';
import { attempt } from './report.ts';
import type { RunView } from './run-view.ts';
import { shownStep } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { worldPanel as say } from './strings.ts';
import { firstDifference, lastSeen } from './world.ts';
import './world-panel.css';

export function WorldPanel({ run }: { run: RunView }) {
  const t = useLab(shownStep);
  const worlds = useWorlds(run);
  const world = worlds?.[t] ?? null;
  const before = worlds?.[t - 1] ?? null;
  const broken = useMemo(() => (worlds ? firstDifference(run, worlds) : null), [run, worlds]);
  const seen = useMemo(() => {
    const names = world
      ? [...world.places.flatMap(({ things }) => things), ...(world.holding ? [world.holding] : [])]
      : [];
    return lastSeen(
      run,
      names.map(({ name }) => name),
      t,
    );
  }, [run, world, t]);
  return (
    <section className="world" aria-labelledby="world-title">
      <div className="heatmap-head">
        <h3 id="world-title">{say.title(t)}</h3>
        <span className="aside world-holding">
          {world?.holding ? (
            <>
              {say.holds} <Thing thing={world.holding} seen={seen} moved={false} />
            </>
          ) : (
            world && say.holdsNothing
          )}
        </span>
        <button
          type="button"
          className="button small"
          onClick={() => dispatch({ type: 'lower_panel', panel: 'tokens' })}
        >
          {say.backTokens}
        </button>
      </div>
      {worlds?.length === 0 && <p className="heatmap-empty">{say.notShown}</p>}
      {worlds === null && <p className="heatmap-empty">{say.replayingActions}</p>}
      {broken !== null && broken <= t && (
        <p className="heatmap-note warn-text">{say.diverged(broken)}</p>
      )}
      {world && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard
        <ul className="places" tabIndex={0} aria-label={say.places}>
          {world.places.map((place) => (
            <li key={place.name} data-here={place.here || undefined}>
              <span className="place">
                {place.here && <span className="unseen">{say.agent} </span>}
                {place.name}
                {place.open !== null && (
                  <span className="aside"> {place.open ? say.open : say.closed}</span>
                )}
              </span>
              <span className="things">
                {place.things.length === 0 && <span className="aside">{say.empty}</span>}
                {place.things.map((thing) => (
                  <Thing
                    key={thing.name}
                    thing={thing}
                    seen={seen}
                    moved={before !== null && !isThere(before, place.name, thing)}
                  />
                ))}
              </span>
            </li>
          ))}
        </ul>
      )}
      <p className="heatmap-note">{say.legend}</p>
    </section>
  );
}

function Thing({
  thing,
  seen,
  moved,
}: {
  thing: WorldThing;
  seen: ReadonlyMap<string, number>;
  moved: boolean;
}) {
  const at = seen.get(thing.name);
  return (
    <span
      className="thing"
      data-seen={at !== undefined}
      data-moved={moved || undefined}
      data-tip={at === undefined ? say.neverNamed : at === 0 ? say.namedAtStart : say.namedAt(at)}
    >
      {thing.name}
      {thing.marks.length > 0 && ` (${thing.marks.join(', ')})`}
    </span>
  );
}

/** True where the world before had the same thing, with the same marks, in the same place. */
function isThere(world: WorldSketch, place: string, thing: WorldThing): boolean {
  const things = world.places.find(({ name }) => name === place)?.things ?? [];
  return things.some(
    ({ name, marks }) => name === thing.name && marks.join() === thing.marks.join(),
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
