import { expect, test } from 'vitest';
import { completionsUrl, isLoopback, placeholder, resolveKey } from './channel.ts';

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

test.each([
  ['https://h.test', 'https://h.test/v1/chat/completions'],
  ['https://h.test/', 'https://h.test/v1/chat/completions'],
  ['https://h.test/v1', 'https://h.test/v1/chat/completions'],
  ['https://h.test/v1/', 'https://h.test/v1/chat/completions'],
  ['https://h.test//v1//', 'https://h.test/v1/chat/completions'],
  ['https://h.test/v1/chat/completions', 'https://h.test/v1/chat/completions'],
  ['https://h.test/api/v1', 'https://h.test/api/v1/chat/completions'],
  ['https://h.test/api', 'https://h.test/api/v1/chat/completions'],
  ['https://h.test/av1', 'https://h.test/av1/v1/chat/completions'],
  ['https://h.test/v1beta', 'https://h.test/v1beta/chat/completions'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/v1/chat/completions'],
])('the address %s means %s', (base, url) => {
  expect(completionsUrl(base).href).toBe(url);
});

test.each(['', 'h.test/v1', 'file:///v1', 'https://me:secret@h.test/v1'])(
  'the address %j is refused, without repeating a secret',
  (base) => {
    expect(() => completionsUrl(base)).toThrow(/expected one such as|carries a name or password/);
    expect(() => completionsUrl(base)).not.toThrow(/secret/);
  },
);

test('only this machine counts as such', () => {
  const own = ['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:80', 'http://a.localhost'];
  const others = [
    'http://h.test',
    'http://127.0.0.1.h.test',
    'http://192.168.0.2',
    'http://localhost.h.test',
  ];
  expect(own.map((url) => isLoopback(new URL(url)))).toEqual([true, true, true, true]);
  expect(others.map((url) => isLoopback(new URL(url)))).toEqual([false, false, false, false]);
});
