/** Plays training episodes: the expert with detours. Turns that are detours stay in the text and are never targets. */

import { household, stepHousehold } from '../../src/envs/household.ts';
import { decide, knownTargets, type SearchOrder, typeOf } from '../../src/envs/household-expert.ts';
import { makeScene } from '../../src/envs/household-generate.ts';
import { deriveRng, type Rng } from '../../src/math/rng.ts';
import { act, detour, type Episode, episodeOf, type Player, startPlayer } from './player.ts';
import { type Wording, writeThought } from './thoughts.ts';

/** Shares of what an episode may be; shares of one table need not sum to 1. */
export interface Mix {
  /** Share of episodes in small scenes (4-10 receptacles). */
  readonly small: number;
  readonly orders: Readonly<Record<SearchOrder, number>>;
  /** Noise rate to the share of episodes that have it. */
  readonly noise: readonly (readonly [rate: number, share: number])[];
  /** Share of episodes with loops to come out of. */
  readonly recovery: number;
  /** Share of episodes that wander for 5-30 steps first, so that long histories are common. */
  readonly wander: number;
  /** By default each place has its own wording. */
  readonly wording?: Wording;
}

/**
 * `late` is for the last leg: hardly a detour, 55 % of the searches as by one who does not know where things lie, and one
 * thought after whatever was refused.
 */
export const MIXES: Readonly<Record<'small' | 'full' | 'mixed' | 'late', Mix>> = (() => {
  const full: Mix = {
    small: 0,
    orders: { likely_list: 0.9, likely: 0.04, types: 0.02, list: 0.02, random: 0.02 },
    noise: [
      [0, 0.6],
      [0.05, 0.15],
      [0.15, 0.15],
      [0.3, 0.1],
    ],
    recovery: 0.5,
    wander: 0.05,
  };
  const late: Mix = {
    small: 0.3,
    orders: { likely_list: 0.45, likely: 0, types: 0.18, list: 0.37, random: 0 },
    noise: [
      [0, 0.9],
      [0.05, 0.1],
    ],
    recovery: 0.2,
    wander: 0,
    wording: { oneRefusal: true },
  };
  const small = { ...full, small: 1, wander: 0.03 };
  return { full, small, mixed: { ...full, small: 0.6 }, late };
})();

/** Seeds of scenes for training data start here; the frozen splits lie below. */
export const FIRST_DATA_SEED = 2 ** 32;

/** One episode. Equal arguments give equal text; the floor plans are those of training. */
export function makeEpisode(seed: number, mix: Mix): Episode {
  const rng = deriveRng(seed, 'episode');
  const size = rng.next() < mix.small ? 'small' : 'full';
  const order = weighted(rng, Object.entries(mix.orders)) as SearchOrder; // keys of that record
  const noise = weighted(rng, mix.noise);
  const wander = rng.next() < mix.wander ? 5 + rng.int(26) : 0;
  const loops = rng.next() < mix.recovery ? 1 + rng.int(3) : 0;
  const scene = makeScene(FIRST_DATA_SEED + seed, { plans: 'train', size });
  const player = startPlayer(scene, order, rng, mix.wording);
  const firstLoop = rng.next() < 0.3 ? 0 : rng.int(10);
  let loopsLeft = loops;
  while (!player.done) {
    const { steps } = player;
    if (loopsLeft > 0 && steps >= firstLoop && (steps === 0 || rng.next() < 0.3)) {
      loopsLeft -= 1;
      loop(player);
    } else if (rng.next() < (steps < wander ? 0.75 : noise)) {
      const commands = household.admissible?.(player.state) ?? ['look'];
      detour(player, rng.pick(commands.filter((command) => command !== 'help')));
    } else {
      const decision = decide(player.mind);
      act(player, decision, true);
    }
  }
  return episodeOf(player);
}

// ---------------------------------------------------------------- loops

/** Plays a loop of one of the kinds that fit the moment; the expert then has to come out of it. */
function loop(player: Player): void {
  const { rng } = player;
  const kinds = [
    failing,
    failing,
    backAndForth,
    stubborn,
    wrongThing,
    openClose,
    staring,
    tooEarly,
    phantom,
    phantom,
    phantom,
    phantom,
  ];
  for (const kind of rng.shuffle(kinds)) if (kind(player)) return;
}

function repeat(player: Player, action: string, times: number): true {
  let thought: string | undefined;
  for (let i = 0; i < times; i++) {
    const line = detour(player, action, player.rng.next() < 0.6 ? thought : undefined);
    thought = line;
  }
  return true;
}

/** A command that the world refuses, 2-4 times. */
function failing(player: Player): boolean {
  const { rng, mind, scene } = player;
  const place = mind.here[0] ?? rng.pick(mind.receptacles);
  const thing = mind.holding ?? `${mind.errand.object} ${1 + rng.int(3)}`;
  const other = rng.pick(scene.objects).name;
  const action = rng.pick([
    `go to ${place}`,
    `take ${thing} from ${place}`,
    `take ${other} from ${place}`,
    `open ${place}`,
    `examine ${other}`,
    `move ${thing} to ${place}`,
    `take ${mind.errand.object} from ${place}`,
    `go to ${mind.errand.goal}`,
    `use ${thing}`,
    `put ${thing} in ${place}`,
  ]);
  if (stepHousehold(player.state, action).observation !== 'Nothing happens.') return false;
  return repeat(player, action, 2 + rng.int(3));
}

/** Between two or three places, over and over. */
function backAndForth(player: Player): boolean {
  const { rng, mind } = player;
  const known = [...mind.seen.keys()];
  if (known.length < 2) return false;
  const round = rng.shuffle(known).slice(0, 2 + rng.int(2));
  const times = 3 + rng.int(4);
  for (let i = 0; i < times; i++) detour(player, `go to ${round[i % round.length]}`);
  return true;
}

/** Reaching through a closed door. */
function stubborn(player: Player): boolean {
  const { rng, mind } = player;
  const { subgoal } = decide(mind);
  if (subgoal.name === 'look_inside' && mind.shut.has(subgoal.receptacle)) {
    const object = `${mind.errand.object} ${1 + rng.int(2)}`;
    return repeat(player, `take ${object} from ${subgoal.receptacle}`, 2 + rng.int(3));
  }
  if (subgoal.name !== 'open' || mind.holding === null) return false;
  return repeat(player, `move ${mind.holding} to ${subgoal.receptacle}`, 2 + rng.int(3));
}

/** Takes something useless, then tries to take the right thing with full hands. */
function wrongThing(player: Player): boolean {
  const { rng, mind } = player;
  const place = mind.here.find((r) => !mind.shut.has(r) && (mind.seen.get(r)?.length ?? 0) > 0);
  if (mind.holding !== null || place === undefined) return false;
  const others = (mind.seen.get(place) ?? []).filter((o) => typeOf(o) !== mind.errand.object);
  if (others.length === 0) return false;
  detour(player, `take ${rng.pick(others)} from ${place}`);
  const right = knownTargets(mind).find((target) => target.receptacle === place);
  if (right !== undefined) repeat(player, `take ${right.object} from ${place}`, 1 + rng.int(3));
  return true;
}

/** Believes to see the object where it is not, and reaches for it: what a small policy does most often. */
function phantom(player: Player): boolean {
  const { rng, mind, last } = player;
  const place = mind.here.find((r) => mind.seen.has(r) && !mind.shut.has(r));
  const held = mind.seen.get(place ?? '') ?? [];
  if (mind.holding !== null || last === null || place === undefined) return false;
  if (held.some((name) => typeOf(name) === mind.errand.object)) return false;
  const ghost = `${mind.errand.object} ${1 + rng.int(3)}`;
  const observation = last.observation.replace(/you see (?:nothing)?/, `you see a ${ghost}, `);
  const believed = { ...mind, seen: new Map([[place, [ghost, ...held]]]) };
  const decision = decide(believed);
  if (!decision.action.startsWith('take ')) return false;
  const thought = writeThought(believed, decision, { ...last, observation }, player.wording);
  detour(player, decision.action, thought);
  const again = rng.int(4);
  for (let i = 0; i < again; i++) detour(player, decision.action);
  return true;
}

function openClose(player: Player): boolean {
  const { rng, mind, state } = player;
  const place = mind.here.find((r) => state.open.includes(r));
  if (place === undefined) return false;
  const times = 1 + rng.int(4);
  for (let i = 0; i < times; i++) detour(player, `${i % 2 === 0 ? 'close' : 'open'} ${place}`);
  return true;
}

function staring(player: Player): boolean {
  const { rng, mind } = player;
  const action = rng.pick(['look', 'inventory', ...mind.here.map((r) => `examine ${r}`)]);
  return repeat(player, action, 2 + rng.int(3));
}

/** Brings the object home before it was heated, cooled or cleaned. */
function tooEarly(player: Player): boolean {
  const { mind } = player;
  const { subgoal } = decide(mind);
  if (subgoal.name !== 'carry' && subgoal.name !== 'process') return false;
  if (mind.holding === null || typeOf(mind.holding) !== mind.errand.object) return false;
  if (mind.processed.has(mind.holding) || !['heat', 'cool', 'clean'].includes(mind.errand.kind)) {
    return false;
  }
  for (let i = 0; i < 3 && mind.holding !== null && !player.done; i++) {
    act(player, decide({ ...mind, errand: { ...mind.errand, kind: 'place' } }), false);
  }
  return true;
}

function weighted<T>(rng: Rng, items: readonly (readonly [T, number])[]): T {
  let left = rng.next() * items.reduce((sum, [, share]) => sum + share, 0);
  for (const [item, share] of items) {
    left -= share;
    if (left < 0) return item;
  }
  return rng.pick(items)[0];
}
