import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { parseJson, repeatedName } from './json-syntax.ts';

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

const awkward = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', '}', ':', ' ', 'é', '\n') });

test('a name that stands twice in one object is found, whatever names, values and texts stand around it', () => {
  const objects = fc.dictionary(awkward, fc.oneof(awkward, fc.dictionary(awkward, awkward)), {
    minKeys: 1,
  });
  fc.assert(
    fc.property(objects, fc.nat(), fc.boolean(), (object, pick, nested) => {
      const plain = JSON.stringify(nested ? { inner: object } : object, null, pick % 3);
      expect(repeatedName(plain)).toBeNull();
      const names = Object.keys(object);
      const name = names[pick % names.length] ?? '';
      const own = JSON.stringify(object);
      const twice = `${own.slice(0, -1)},${JSON.stringify(name)} : 1}`;
      expect(repeatedName(nested ? `{"inner":${twice}}` : twice)).toBe(name);
    }),
  );
});

test('texts of millions of characters are passed over', () => {
  for (const long of ['x'.repeat(1e7), '\\n'.repeat(5e5), '\\\\'.repeat(5e5)]) {
    expect(repeatedName(`{"a":"${long}","b":1,"b":2}`)).toBe('b');
    expect(() => parseJson(`{"a":"${long}",}`, 'f')).toThrow(
      `column ${long.length + 9}: found "}", expected a name in double quotes`,
    );
  }
});
