import { expect, test } from 'vitest';
import { defaultSettings, type Settings, type SettingsPatch } from '../config.ts';
import { scorecard } from './scorecard.ts';
import { sweepsOf } from './sweeps.ts';
import { headerOf } from './testing-rows.ts';

/** The sweeps among arms of aTTT with these settings. */
function found(...patches: readonly SettingsPatch[]) {
  return sweepsAmong(patches.map((patch) => ({ ...defaultSettings, ...patch })));
}

function sweepsAmong(settings: readonly Settings[]) {
  const header = headerOf(['attt']);
  const arms = header.arms.flatMap((arm) =>
    settings.map((own, i) => ({ ...arm, name: `arm ${i}`, settings: own })),
  );
  return sweepsOf(scorecard({ ...header, arms }, [])).map(({ field, points }) => [
    field,
    ...points.map(({ value }) => value),
  ]);
}

test('arms of one method that differ in one setting are a sweep, in order of its value', () => {
  expect(found({}, { lora_rank: 16 }, { lora_rank: 4 }, { w_min: 1 })).toEqual([
    ['lora_rank', '4', '8', '16'],
    ['w_min', '0.05', '1'],
  ]);
  expect(found({}, { lora_rank: 4, w_min: 1 })).toEqual([]);
});

test('the seed of their first episodes is no difference', () => {
  expect(found({ seed: 1 }, { seed: 2, lora_rank: 4 })).toEqual([['lora_rank', '4', '8']]);
});

test('a setting that an older arm lacks has its default', () => {
  const { replay_texts: _, ...older } = defaultSettings;
  const arms = [older as Settings, { ...defaultSettings, replay_texts: 2 }]; // as an older file has it
  expect(sweepsAmong(arms)).toEqual([['replay_texts', '0', '2']]);
});
