import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { firstMessages, observationMessage, splitOpening } from './prompt.ts';

const plain = { system_prompt: '', show_admissible: false };

/** The first text that the real engine gave for a game. */
const opening: string = JSON.parse(
  readFileSync('e2e/fixtures/alfworld/00-pick_and_place_simple/transcript.json', 'utf8'),
).steps[0].obs;

test('the first message names the goal, then the room, without the banner', () => {
  const [first, ...rest] = firstMessages(opening, null, plain);
  expect(rest).toEqual([]);
  expect(first?.role).toBe('user');
  expect(first?.content).toMatch(
    /^Task: put some spatula on drawer\.\nYou are in the middle of a room\. .* and a toaster 1\.$/,
  );
});

test('a world without a goal sentence gives its text alone', () => {
  expect(splitOpening('West of House')).toEqual({ goal: null, observation: 'West of House' });
  expect(firstMessages('West of House', null, plain)).toEqual([
    { role: 'user', content: 'West of House' },
  ]);
});

test('a system text comes first, and only where there is one', () => {
  const messages = firstMessages(opening, null, { ...plain, system_prompt: 'Be brief.' });
  expect(messages.map((message) => message.role)).toEqual(['system', 'user']);
});

test('the admissible commands are shown only when asked for and known', () => {
  const shown = { ...plain, show_admissible: true };
  const commands = ['help', 'look'];
  expect(observationMessage('Nothing happens.', commands, shown).content).toBe(
    'Nothing happens.\nAdmissible commands: help, look',
  );
  expect(observationMessage('Nothing happens.', commands, plain).content).toBe('Nothing happens.');
  expect(observationMessage('Nothing happens.', null, shown).content).toBe('Nothing happens.');
});
