import fc from 'fast-check';
import { zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { readZip, writeZip } from './zip.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const entry = (path: string, content: Uint8Array, stored = false) => ({
  path,
  bytes: content,
  stored,
});

test('what is packed comes out again, stored or deflated, and equal files give equal bytes', () => {
  const entries = [
    entry('a.txt', bytes('hello '.repeat(50))),
    entry('b/c.bin', new Uint8Array(9), true),
  ];
  const zip = writeZip(entries);
  expect([...readZip(zip, 'x.zip')]).toEqual(entries.map((one) => [one.path, one.bytes]));
  expect(writeZip(entries)).toEqual(zip);
});

test('what would unpack to too much is refused by what it claims', () => {
  const small = { files: 3, bytes: 1500 };
  const bomb = writeZip([entry('zeros', new Uint8Array(1_000_000))]);
  expect(bomb.length).toBeLessThan(2000);
  expect(() => readZip(bomb, 'x.zip', small)).toThrow(/zeros with 1000000 bytes/);
  const parts = [0, 1].map((i) => entry(`part${i}`, new Uint8Array(900)));
  expect(() => readZip(writeZip(parts), 'x.zip', small)).toThrow(/part1 with 900 bytes/);
  const many = [0, 1, 2, 3].map((i) => entry(`part${i}`, new Uint8Array(1)));
  expect(() => readZip(writeZip(many), 'x.zip', small)).toThrow('more than 3 files');
});

test.each(['../x', 'a/../b', '/etc/x', 'C:/x', 'a\\b', 'a//b', '', 'a\nb'])(
  'the path %j is refused',
  (path) => {
    const zip = zipSync({ [path]: new Uint8Array(3) });
    expect(() => readZip(zip, 'x.zip')).toThrow('no plain path');
  },
);

test('a path that occurs twice is refused', () => {
  const zip = writeZip([entry('aa', bytes('1')), entry('ab', bytes('2'))]);
  zip.forEach((byte, i) => {
    if (byte === 0x62 && zip[i - 1] === 0x61) zip[i] = 0x61;
  });
  expect(() => readZip(zip, 'x.zip')).toThrow('holds aa twice');
});

test('a cut zip is refused, wherever it is cut', () => {
  const zip = writeZip([
    entry('a.txt', bytes('hello '.repeat(50))),
    entry('b', new Uint8Array(40), true),
  ]);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: zip.length - 1 }), (end) => {
      expect(() => readZip(zip.slice(0, end), 'x.zip')).toThrow(LabError);
    }),
  );
});
