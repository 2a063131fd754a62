/** A household as a person reads it: what is where, what is open, what the agent holds. */

import type { PlacesSketch } from '../records.ts';
import { type HouseholdState, MARKS } from './household-scene.ts';

/** The words of PDDL's marks. */
const markWords = {
  isHot: 'hot',
  isCool: 'cool',
  isClean: 'clean',
  isSliced: 'sliced',
  isToggled: 'on',
} as const satisfies Record<(typeof MARKS)[number], string>;

export function sketchHousehold(state: HouseholdState, stateHash: string): PlacesSketch {
  const thing = (name: string) => ({
    name,
    marks: MARKS.filter((mark) => state.marks[mark].includes(name)).map((mark) => markWords[mark]),
  });
  return {
    kind: 'places',
    stateHash,
    holding: state.holding === null ? null : thing(state.holding),
    places: state.scene.receptacles.map(({ name, loc, openable }) => ({
      name,
      here: loc === state.location,
      open: openable ? state.open.includes(name) : null,
      things: (state.contents[name] ?? []).map(thing),
    })),
  };
}
