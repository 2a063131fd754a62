import { expect, test } from 'vitest';
import { backendOf, runAddressOf, threadsOf, withBackend } from './query.ts';

test('a backend is asked for by name, and nonsense asks for none', () => {
  expect(backendOf('?backend=wasm')).toBe('wasm');
  expect(backendOf('?backend=tpu')).toBeNull();
  expect(backendOf('')).toBeNull();
});

test('asking for another backend keeps the rest of the query', () => {
  expect(withBackend('?run=a.jsonl', 'cpu')).toBe('?run=a.jsonl&backend=cpu');
  expect(withBackend('?backend=cpu', null)).toBe('');
});

test('the address of a run comes back as it was written', () => {
  expect(runAddressOf('?run=https%3A%2F%2Fa.b%2Fc.jsonl%3Fx%3D1')).toBe('https://a.b/c.jsonl?x=1');
  expect(runAddressOf('?backend=cpu')).toBeNull();
});

test('a number of threads is a small whole number, or none', () => {
  expect(threadsOf('?threads=2')).toBe(2);
  expect(['?threads=0', '?threads=1.5', '?threads=many', '?threads=', ''].map(threadsOf)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});
