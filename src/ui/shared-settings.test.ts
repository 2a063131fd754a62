import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { startSettings } from './defaults.ts';
import {
  changesText,
  linkedSettings,
  readSharedSettings,
  writeSharedSettings,
} from './shared-settings.ts';

test('what differs from the defaults is written and read back, and other keys stay', () => {
  const settings = {
    ...defaultSettings,
    lora_rank: 4,
    enabled: false,
    system_prompt: 'Be brief & kind = good',
    target_modules: ['q_proj', 'down_proj'],
  } as const;
  const hash = writeSharedSettings('#run=a&step=3', settings, defaultSettings);
  expect(hash).toContain('run=a&step=3');
  expect({ ...defaultSettings, ...readSharedSettings(hash) }).toEqual(settings);
});

test('equal settings are one address, whichever was changed first', () => {
  const settings = { ...defaultSettings, lora_rank: 4, method: 'frozen' } as const;
  const at = (hash: string) => writeSharedSettings(hash, settings, defaultSettings);
  expect(at('#lora_rank=4')).toBe(at(''));
  expect(at('#lora_rank=8&method=attt')).toBe(at(''));
});

test('settings at their defaults leave the address alone', () => {
  expect(writeSharedSettings('', defaultSettings, defaultSettings)).toBe('');
  expect(writeSharedSettings('#lora_rank=4&run=a', defaultSettings, defaultSettings)).toBe(
    '#run=a',
  );
});

test('nonsense in an address is no setting', () => {
  expect(
    readSharedSettings('#lora_rank=999&w_min=x&enabled=perhaps&method=magic&target_modules=&seed='),
  ).toEqual({});
});

test('a link gives the settings of whoever wrote it, also those that are as usual and not named', () => {
  const sender = { ...startSettings, method: 'frozen' } as const;
  const link = writeSharedSettings('#run=a', sender, startSettings);
  expect(linkedSettings(link)).toEqual(sender);
  expect(linkedSettings('#run=a&step=3')).toBeNull();
  // 64 and 512 tokens a step are what the two worlds want (design.md).
  expect(linkedSettings('#task=household.train.3')?.max_tokens).toBe(64);
  expect(linkedSettings('#task=repair.train.3')?.max_tokens).toBe(512);
  expect(linkedSettings('#task=elsewhere.train.3')).toEqual(startSettings);
});

test('what a link changes is told with what it was, a long list in part', () => {
  const mine = { ...defaultSettings, lora_rank: 16, seed: 3 };
  expect(changesText(mine, { ...mine, lora_rank: 4 })).toBe('LoRA rank: 4, was 16.');
  const other = { ...defaultSettings, temperature: 0.5, max_tokens: 9, step_limit: 7 };
  expect(changesText(mine, other)).toMatch(/^([^;]+, was [^;]+; ){4}1 more\.$/);
});
