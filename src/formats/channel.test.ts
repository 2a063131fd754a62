import { expect, test } from 'vitest';
import { placeholder, resolveKey } from './channel.ts';

const template = placeholder('SUMMARY_KEY');

test('a set variable is the key', () => {
  expect(resolveKey(template, { SUMMARY_KEY: 'abc' })).toEqual({ state: 'key', key: 'abc' });
});

test.each([[{}], [{ SUMMARY_KEY: '' }], [{ SUMMARY_KEY: 'undefined' }], [{ SUMMARY_KEY: 'null' }]])(
  'the environment %j has no key: a message, and nothing to send',
  (env) => {
    const resolved = resolveKey(template, env);
    expect(resolved).toMatchObject({ state: 'not_set', name: 'SUMMARY_KEY' });
    expect(JSON.stringify(resolved)).toContain('SUMMARY_KEY is not set');
  },
);

test('an absent key declares an endpoint without keys', () => {
  expect(resolveKey(null, { SUMMARY_KEY: 'abc' })).toEqual({ state: 'keyless' });
});

test('a placeholder is never a key itself, wherever it comes from', () => {
  expect(resolveKey(template, { SUMMARY_KEY: placeholder('OTHER') }).state).toBe('not_set');
});
