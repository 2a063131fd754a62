/**
 * Writes training data for the household policy, one episode a line:
 * node scripts/policy/run.mjs scripts/policy/generate.ts --episodes 5000 --seed 1 --out FILE [--mix small|full|mixed|late|JSON]
 * Episode i of a seed is always the same, so that files of different lengths agree.
 */

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { MIXES, type Mix, makeEpisode } from './episodes.ts';
import type { Episode } from './player.ts';

const { values } = parseArgs({
  options: {
    episodes: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
    mix: { type: 'string', default: 'mixed' },
  },
});
if (values.out === undefined) throw new Error('Give --out FILE, where the JSON lines go.');
const episodes = Number(values.episodes);
const seed = Number(values.seed);
if (!Number.isSafeInteger(episodes) || !Number.isSafeInteger(seed) || seed < 0 || seed > 1e6) {
  throw new Error('--episodes and --seed are whole numbers; a seed is 0 to 1,000,000.');
}
const mix = readMix(values.mix);

/** Room for the episodes of one seed. */
const STRIDE = 10_000_000;

const started = performance.now();
mkdirSync(dirname(values.out), { recursive: true });
const file = openSync(values.out, 'w');
const totals = { won: 0, steps: 0, targets: 0, characters: 0, targetCharacters: 0 };
let buffer = '';
for (let i = 0; i < episodes; i++) {
  const episode = makeEpisode(seed * STRIDE + i, mix);
  count(episode);
  const { kind, floor, turns } = episode;
  buffer += `${JSON.stringify({ kind, floor, turns })}\n`;
  if (buffer.length < 4_000_000) continue;
  writeSync(file, buffer);
  buffer = '';
}
writeSync(file, buffer);
closeSync(file);
const seconds = (performance.now() - started) / 1000;
const share = (part: number, whole: number) =>
  `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
console.log(
  [
    `${episodes} episodes in ${seconds.toFixed(1)} s, ${share(totals.won, episodes)} won`,
    `${(totals.steps / episodes).toFixed(1)} turns each, ${share(totals.targets, totals.steps)} of them targets`,
    `about ${Math.round(totals.characters / 4)} tokens at 4 characters each, ${share(totals.targetCharacters, totals.characters)} in targets`,
  ].join('\n'),
);

function count({ won, turns }: Episode): void {
  if (won) totals.won += 1;
  for (const turn of turns) {
    totals.characters += turn.content.length;
    if (turn.role === 'user') continue;
    totals.steps += 1;
    if (turn.target !== true) continue;
    totals.targets += 1;
    totals.targetCharacters += turn.content.length;
  }
}

function readMix(text: string): Mix {
  if (Object.hasOwn(MIXES, text)) return MIXES[text as keyof typeof MIXES];
  const changes: Partial<Mix> = JSON.parse(text); // a developer's own flag; a wrong key changes nothing
  return { ...MIXES.full, ...changes };
}
