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

test('a task of a split plays like one from a file, with commands as they were written', async () => {
  const commands = ['insert 1 // A  B', 'view lru.js 1-2', 'submit'];
  const file = scratchFile('commands.json', JSON.stringify(commands));
  const where = ['--env', 'repair', '--split', 'train', '--task', '0'];
  const played = (await json('play', ...where, '--commands', file)) as Played[];
  expect(played[0]?.obs).toMatch(/^\+\/\/ A {2}B$/m);
  expect(played[1]?.obs).toContain('  2: // A  B');
  expect(played[2]).toMatchObject({ reward: 0, done: true, admissible: [] });
  expect((await attt('play', ...where, '--scene', 'x', '--commands', file)).code).toBe(2);
});
