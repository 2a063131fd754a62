import { expect, test } from 'vitest';
import { defaultSettings } from '../config.ts';
import { readSharedSettings, writeSharedSettings } from './shared-settings.ts';

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
