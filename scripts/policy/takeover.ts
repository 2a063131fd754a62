/**
 * DAgger data: a policy's own episodes, cut somewhere, with the expert playing on from there. What the policy wrote
 * stays in the text and is never a target.
 * node scripts/policy/run.mjs scripts/policy/takeover.ts --rollouts FILE --out FILE [--cuts 3] [--seed 1]
 * FILE is what rollout.py wrote of fresh scenes or of the split train (no other: the rest is for measuring).
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { decide } from '../../src/envs/household-expert.ts';
import { deriveRng } from '../../src/math/rng.ts';
import { act, type Episode, episodeOf, follow, startPlayer } from './player.ts';
import { type Start, sceneOf } from './world.ts';

/** An episode as the policy played it. */
interface Rollout {
  readonly start: Start;
  readonly solved: boolean;
  readonly steps: readonly { readonly text: string; readonly action: string }[];
}

const { values } = parseArgs({
  options: {
    rollouts: { type: 'string' },
    out: { type: 'string' },
    cuts: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
});
if (values.rollouts === undefined || values.out === undefined) {
  throw new Error('Give --rollouts FILE (of rollout.py) and --out FILE.');
}
const most = Number(values.cuts);
const rollouts = readRollouts(readFileSync(values.rollouts, 'utf8'));
const episodes = rollouts.flatMap((rollout, i) => {
  const rng = deriveRng(Number(values.seed), 'takeover', i);
  return cutsOf(rollout, rng.int(2 ** 30)).map((cut) => takeOver(rollout, cut, rng.int(2 ** 30)));
});
const lines = episodes.map(({ kind, floor, turns }) => JSON.stringify({ kind, floor, turns }));
writeFileSync(values.out, lines.map((line) => `${line}\n`).join(''));
const won = episodes.filter((episode) => episode.won).length;
console.log(`${rollouts.length} episodes, ${episodes.length} takeovers, ${won} of them won`);

function readRollouts(jsonl: string): readonly Rollout[] {
  const lines = jsonl.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const rollout: Rollout = JSON.parse(line); // written by rollout.py
    const { start } = rollout;
    if ('split' in start && start.split !== 'train') {
      throw new Error(`A task of ${start.split}; only train may be trained on.`);
    }
    return rollout;
  });
}

/**
 * Where the expert takes over: steps at which it would not have done what the policy did, drawn at random, and no more
 * than `--cuts`. Where the two agree throughout there is nothing to learn.
 */
function cutsOf({ start, steps }: Rollout, seed: number): readonly number[] {
  const rng = deriveRng(seed, 'cuts');
  const player = startPlayer(sceneOf(start), 'likely_list', rng);
  const strayed: number[] = [];
  steps.forEach(({ text, action }, t) => {
    if (decide(player.mind).action !== action) strayed.push(t);
    follow(player, text, action, false);
  });
  return rng.shuffle(strayed).slice(0, most);
}

/** The policy until before turn `cut`, then the expert to the end. */
function takeOver({ start, steps }: Rollout, cut: number, seed: number): Episode {
  const player = startPlayer(sceneOf(start), 'likely_list', deriveRng(seed, 'takeover expert'));
  for (const { text, action } of steps.slice(0, cut)) follow(player, text.trim(), action, false);
  while (!player.done) act(player, decide(player.mind), true);
  return episodeOf(player);
}
