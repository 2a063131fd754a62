/** Places and the things in them, and what the agent has seen of them. */

import { useMemo } from 'react';
import type { PlacesSketch, WorldThing } from '../records.ts';
import type { RunView } from './run-view.ts';
import { worldPanel as say } from './strings.ts';
import { lastSeen } from './world.ts';

interface Shown {
  readonly run: RunView;
  readonly world: PlacesSketch;
  readonly t: number;
}

/** What the agent holds. */
export function PlacesHead({ run, world: { holding }, t }: Shown) {
  if (holding === null) return say.holdsNothing;
  const seen = lastSeen(run, [holding.name], t);
  return (
    <>
      {say.holds} <Thing thing={holding} seen={seen} moved={false} />
    </>
  );
}

export function PlacesView({ run, world, before, t }: Shown & { before: PlacesSketch | null }) {
  const seen = useMemo(() => {
    const things = world.places.flatMap((place) => place.things);
    return lastSeen(
      run,
      things.map(({ name }) => name),
      t,
    );
  }, [run, world, t]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard */}
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
      <p className="heatmap-note">{say.legend}</p>
    </>
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
function isThere(world: PlacesSketch, place: string, thing: WorldThing): boolean {
  const things = world.places.find(({ name }) => name === place)?.things ?? [];
  return things.some(
    ({ name, marks }) => name === thing.name && marks.join() === thing.marks.join(),
  );
}
