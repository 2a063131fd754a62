import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { parseJson } from './json-syntax.ts';

test('what JSON reads is read, with a byte order mark or without', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseJson(`\uFEFF${text}`, 'f')).toEqual(JSON.parse(text));
    }),
  );
});

test('a text that was cut is faulted at its end or within its last word', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (value, cut) => {
      const whole = JSON.stringify(value);
      const text = whole.slice(0, cut % whole.length);
      try {
        parseJson(text, 'f');
        throw new Error('it was accepted');
      } catch (thrown) {
        if (!(thrown instanceof LabError)) throw thrown;
        const column = Number(thrown.details.column);
        expect(column).toBeLessThanOrEqual(text.length + 1);
        expect(text.slice(column - 1)).toMatch(/^("|[-\w.+]|$)/);
      }
    }),
  );
});
