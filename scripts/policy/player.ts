/** Plays and writes one training episode turn by turn; what is played is for others to choose. */

import { resetScene, stepHousehold } from '../../src/envs/household.ts';
import {
  type Decision,
  type Mind,
  observe,
  type SearchOrder,
  startMind,
} from '../../src/envs/household-expert.ts';
import type { HouseholdScene, HouseholdState } from '../../src/envs/household-scene.ts';
import type { Rng } from '../../src/math/rng.ts';
import { assistantText, firstUserText, observationText } from './format.ts';
import { type LastTurn, type Wording, writeThought } from './thoughts.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Only on assistant turns: whether it is trained. */
  readonly target?: boolean;
}

export interface Episode {
  readonly kind: string;
  readonly floor: number | null;
  readonly won: boolean;
  readonly turns: readonly Turn[];
}

/** The benchmark's limit. */
const MAX_STEPS = 50;

/** An episode in the making. */
export interface Player {
  readonly scene: HouseholdScene;
  readonly mind: Mind;
  readonly rng: Rng;
  readonly wording: Wording;
  readonly turns: Turn[];
  state: HouseholdState;
  last: LastTurn;
  steps: number;
  done: boolean;
  won: boolean;
}

export function startPlayer(
  scene: HouseholdScene,
  order: SearchOrder,
  rng: Rng,
  wording: Wording = {},
): Player {
  const start = resetScene(scene);
  const room = start.observation.split('\n\n')[1] ?? '';
  return {
    scene,
    mind: startMind(scene.task, room, { order, seed: rng.int(2 ** 30) }),
    rng,
    wording,
    turns: [{ role: 'user', content: firstUserText(scene.task, room) }],
    state: start.state,
    last: null,
    steps: 0,
    done: false,
    won: false,
  };
}

export function episodeOf({ scene, won, turns }: Player): Episode {
  return { kind: scene.kind, floor: scene.floor, won, turns };
}

/** Writes the expert's turn, or one in its words, and plays it. Returns the thought. */
export function act(player: Player, decision: Decision, target: boolean, thought?: string): string {
  if (player.done) return '';
  const { mind, last, wording } = player;
  const line = thought ?? writeThought(mind, decision, last, wording);
  player.turns.push({ role: 'assistant', content: assistantText(line, decision.action), target });
  const step = stepHousehold(player.state, decision.action);
  observe(mind, decision.action, step.observation);
  player.state = step.state;
  player.last = { action: decision.action, observation: step.observation };
  player.steps += 1;
  player.won = step.terminated;
  player.done = step.terminated || player.steps >= MAX_STEPS;
  if (!player.done) {
    player.turns.push({ role: 'user', content: observationText(step.observation) });
  }
  return line;
}

/** A turn that the expert would not take: it stays in the text and is never a target. */
export function detour(player: Player, action: string, thought?: string): string {
  return act(player, { action, subgoal: excuse(action) }, false, thought);
}

/** What a policy might have meant by an action that the expert would not take. */
function excuse(action: string): Decision['subgoal'] {
  const [, verb = '', rest = ''] =
    /^(go to|open|close|examine|take|move|use) (.+)$/.exec(action) ?? [];
  const [object = '', receptacle = ''] = rest.split(/ (?:from|to) /);
  if (verb === 'go to') return { name: 'search', receptacle: rest };
  if (verb === 'open') return { name: 'look_inside', receptacle: rest };
  if (verb === 'take') return { name: 'take', object, receptacle };
  if (verb === 'move') return { name: 'put_down', object, receptacle };
  return { name: 'recall' };
}
