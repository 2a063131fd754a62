/** ALFWorld's household as an environment: from a task to a world, from a command to the next one. */

import { hash32 } from '../math/rng.ts';
import type { EnvDescription } from '../records.ts';
import type { Env, EnvReset, EnvStep } from './env.ts';
import { allowed, allowedCommands, apply, houseOf, isWon, startState } from './household-rules.ts';
import { type HouseholdScene, type HouseholdState, MARKS } from './household-scene.ts';
import { sketchHousehold } from './household-sketch.ts';
import { sceneOfTask, splitDescriptions, splitTasks } from './household-tasks.ts';
import { feedback, introText, readCommand, writeCommand } from './household-text.ts';
import { NOTHING, WORDING_V03, WORDING_V04, type Wording } from './household-wording.ts';

/** The household with the wording of one ALFWorld version. */
function makeHousehold(version: '0.4' | '0.3'): Env<HouseholdState> {
  const standard = version === '0.4' ? WORDING_V04 : WORDING_V03;
  const id = `household/ALFWorld-v${version}`;
  return {
    description: describe(id, version),
    tasks: (split) => splitTasks(id, split),
    initial: (task) => resetScene(sceneOfTask(task), standard),
    step: (state, action) => stepHousehold(state, action, standard),
    admissible: (state) => admissible(state, standard),
    sketch: (state) => sketchHousehold(state, stateHash(state)),
  };
}

/** The household of ALFWorld 0.4, and the older wording. */
export const household = makeHousehold('0.4');
export const householdV03 = makeHousehold('0.3');

/** Starts a scene. */
export function resetScene(
  scene: HouseholdScene,
  standard = WORDING_V04,
): EnvReset<HouseholdState> {
  const house = houseOf(scene);
  const state = startState(scene);
  const observation = introText(house, scene.wording ?? standard, state);
  return { state, observation, info: infoOf(state, isWon(house, state)) };
}

/** One command; one that is not admissible leaves the world as it is. */
export function stepHousehold(
  state: HouseholdState,
  action: string,
  standard: Wording = WORDING_V04,
): EnvStep<HouseholdState> {
  const house = houseOf(state.scene);
  const wording = state.scene.wording ?? standard;
  const command = readCommand(house, wording, action.trim());
  const accepted = command !== null && allowed(house, state, command);
  const next = accepted ? apply(house, state, command) : state;
  const won = isWon(house, next);
  return {
    state: next,
    observation: accepted ? feedback(house, wording, next, command) : NOTHING,
    reward: won ? 1 : 0,
    terminated: won,
    truncated: false,
    info: infoOf(next, won),
  };
}

function admissible(state: HouseholdState, standard: Wording): readonly string[] {
  const house = houseOf(state.scene);
  const wording = state.scene.wording ?? standard;
  const commands = allowedCommands(house, state).map((command) => writeCommand(wording, command));
  return [...new Set(commands)].sort();
}

function infoOf(state: HouseholdState, won: boolean): EnvReset<HouseholdState>['info'] {
  return { won, lost: false, score: won ? 1 : 0, maxScore: 1, stateHash: stateHash(state) };
}

const sceneHashes = new WeakMap<HouseholdScene, string>();

/** 16 hex digits over the scene and everything that changes; lists are in scene order already. */
function stateHash(state: HouseholdState): string {
  let fixed = sceneHashes.get(state.scene);
  if (fixed === undefined) {
    fixed = hex(JSON.stringify(state.scene));
    sceneHashes.set(state.scene, fixed);
  }
  const { location, holding, open, contents, around, taken, marks } = state;
  const house = houseOf(state.scene);
  const inOrder = state.scene.receptacles.map(({ name }) => [contents[name], taken[name]]);
  const atPlaces = [...house.at.keys()].map((loc) => around[loc]);
  const onObjects = MARKS.map((mark) => marks[mark]);
  return hex(JSON.stringify([fixed, location, holding, open, inOrder, atPlaces, onObjects]));
}

function hex(text: string): string {
  const word = (basis: number) => hash32(text, basis).toString(16).padStart(8, '0');
  return word(0x811c9dc5) + word(0x01000193);
}

function describe(id: string, version: '0.4' | '0.3'): EnvDescription {
  return {
    id,
    label: version === '0.4' ? 'Household (ALFWorld)' : 'Household (ALFWorld 0.3 wording)',
    help: `Find, clean, heat, cool and place things in a house by text commands, as ALFWorld ${version} words them.`,
    citation:
      'Shridhar et al., ALFWorld: Aligning Text and Embodied Environments for Interactive Learning, ICLR 2021',
    splits: splitDescriptions,
    oracleScore: 1,
    idleScore: 0,
  };
}
