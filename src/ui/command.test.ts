/** The command that repeats a run. */

import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { SettingsPatch } from '../config.ts';
import type { RunManifest } from '../records.ts';
import { repeatCommand } from './command.ts';

function commandOf(settings: SettingsPatch, more: Partial<RunManifest> = {}) {
  const [first] = madeRun({ steps: 1, settings });
  if (first?.type !== 'episode_started') throw new Error('the made run starts');
  return repeatCommand({ ...first.manifest, ...more });
}

test('defaults need no file', () => {
  expect(commandOf({ seed: 4 })).toEqual({
    command:
      'npx attt run --model household --env household --split valid_unseen --tasks 3 --method attt --seed 4 --backend wasm --out runs/valid_unseen-3-attt-4',
    files: [],
    note: '',
  });
});

test('a changed setting asks for the file that it lives in', () => {
  expect(commandOf({ lora_rank: 4 }).command).toContain(' --config config.toml ');
  expect(commandOf({ lora_rank: 4 }).files).toEqual(['config.toml']);
  expect(commandOf({ novelty_threshold: 0.1 }).files).toEqual(['settings.json']);
});

test('a name with spaces and quotes stays one word of the shell', () => {
  expect(commandOf({ policy_model: "my model's.gguf" }).command).toContain(
    "--model 'my model'\\''s.gguf' ",
  );
});

test('a run that started from an adapter says where to take it from', () => {
  const startAdapter = { name: 'kitchen', sha256: 'ab' };
  const { command, note } = commandOf({}, { startAdapter });
  expect(command).toContain(' --adapter adapter-start ');
  expect(note).toContain('attt bundle export BUNDLE --to peft-start --out adapter-start');
});
