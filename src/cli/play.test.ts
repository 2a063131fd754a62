import { readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { Played } from './play.ts';
import { attt, json } from './testing.ts';
import { scratchFile } from './testing-scratch.ts';

// Each test starts processes, which wait for a build where a source is newer, on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const games = 'e2e/fixtures/alfworld';
const read = (path: string) => JSON.parse(readFileSync(`${games}/${path}`, 'utf8'));

/** The first game of the fixtures; the world's own tests play all of them. */
const game = readdirSync(games)[0] ?? '';

interface Step {
  readonly cmd?: string;
  readonly obs: string;
  readonly admissible: readonly string[];
}

test.each(['scene.json', 'game.tw-pddl'])('%s plays as the real engine played it', async (file) => {
  const { steps } = read(`${game}/transcript.json`) as { steps: Step[] };
  const after = steps.slice(1); // the first is the opening, before any command
  const commands = scratchFile('commands.json', JSON.stringify(after.map(({ cmd }) => cmd)));
  const played = (await json(
    'play',
    '--scene',
    `${games}/${game}/${file}`,
    '--commands',
    commands,
  )) as Played[];
  expect(played.map(({ obs }) => obs)).toEqual(after.map(({ obs }) => obs));
  expect(played.map(({ admissible }) => admissible)).toEqual(
    after.map(({ admissible }) => admissible),
  );
  expect(played.at(-1)).toMatchObject({ reward: 1, done: true });
});

test('a list that holds no commands is refused', async () => {
  const ran = await attt(
    ...['play', '--scene', `${games}/${game}/scene.json`],
    ...['--commands', scratchFile('commands.json', '[1]')],
  );
  expect(ran).toMatchObject({ code: 1, stdout: '' });
});
