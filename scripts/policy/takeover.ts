/**
 * DAgger data: a policy's own episodes, cut somewhere, with the expert playing on from there. What the policy wrote
 * stays in the text and is never a target.
 * node scripts/policy/run.mjs scripts/policy/takeover.ts --events FILE --out FILE [--cuts 3] [--seed 1]
 * FILE is the events.jsonl of `attt run` on the split train (no other: the rest is for measuring).
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { decide } from '../../src/envs/household-expert.ts';
import { sceneOfTask } from '../../src/envs/household-tasks.ts';
import { deriveRng } from '../../src/math/rng.ts';
import type { EpisodeEvent, TaskRef } from '../../src/records.ts';
import { act, type Episode, episodeOf, follow, startPlayer } from './player.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string' },
    out: { type: 'string' },
    cuts: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
});
if (values.events === undefined || values.out === undefined) {
  throw new Error('Give --events FILE (events.jsonl of attt run) and --out FILE.');
}

const visits = readVisits(readFileSync(values.events, 'utf8'));
const episodes = visits.flatMap((visit, i) => {
  const rng = deriveRng(Number(values.seed), 'takeover', i);
  const cuts = rng.shuffle([...visit.turns.keys()]).slice(0, Number(values.cuts));
  return cuts.map((cut) => takeOver(visit, cut, rng.int(2 ** 30)));
});
const lines = episodes.map(({ kind, floor, turns }) => JSON.stringify({ kind, floor, turns }));
writeFileSync(values.out, lines.map((line) => `${line}\n`).join(''));
const won = episodes.filter((episode) => episode.won).length;
console.log(`${visits.length} episodes, ${episodes.length} takeovers, ${won} of them won`);

/** An episode as the policy played it. */
interface Visit {
  readonly task: TaskRef;
  readonly turns: readonly { readonly text: string; readonly action: string }[];
}

function readVisits(jsonl: string): readonly Visit[] {
  const visits: { task: TaskRef; turns: { text: string; action: string }[] }[] = [];
  for (const line of jsonl.split('\n')) {
    if (line.trim() === '') continue;
    const event: EpisodeEvent = JSON.parse(line); // written by `attt run`
    if (event.type === 'episode_started') {
      const { split } = event.task;
      if (split !== 'train') throw new Error(`A task of ${split}; only train may be trained on.`);
      visits.push({ task: event.task, turns: [] });
    } else if (event.type === 'step') {
      visits.at(-1)?.turns.push({ text: event.generation.text.trim(), action: event.action });
    }
  }
  return visits;
}

/** The policy until before turn `cut`, then the expert to the end. */
function takeOver({ task, turns }: Visit, cut: number, seed: number): Episode {
  const rng = deriveRng(seed, 'takeover expert');
  const player = startPlayer(sceneOfTask(task), rng.pick(['likely', 'types']), rng);
  for (const { text, action } of turns.slice(0, cut)) follow(player, text, action, false);
  while (!player.done) act(player, decide(player.mind), true);
  return episodeOf(player);
}
