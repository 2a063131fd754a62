import fc from 'fast-check';
import { zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { crc32 } from './crc32.ts';
import { unzipChosen } from './unzip.ts';
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

test('the CRC-32 of 123456789 is the catalogue’s check value', () => {
  expect(crc32(bytes('123456789'))).toBe(0xcbf43926);
});

test('a zip of Python’s zipfile is read, with a comment and names that are not ASCII', () => {
  // zipfile, deflated: {"ü.txt": b"a" * 20}, comment b"made elsewhere".
  const zip = Buffer.from(PYTHON_ZIP, 'base64');
  const { files } = unzipChosen(zip, () => 100, { files: 1, bytes: 100 });
  expect([...files]).toEqual([['ü.txt', bytes('a'.repeat(20))]]);
});

test('a zip64 is read, whose 32-bit fields say nothing', () => {
  // Made with struct in Python; its zipfile reads {"a.txt": b"hello"} from it.
  const zip = Buffer.from(ZIP64, 'base64');
  expect([...readZip(zip, 'x.zip')]).toEqual([['a.txt', bytes('hello')]]);
  zip[zip.indexOf('hello')] = 0x48; // H
  expect(() => readZip(zip, 'x.zip')).toThrow(/^x\.zip holds a damaged a\.txt/);
});

test('a file that is packed by another method is refused, naming the method', () => {
  // zipfile, ZIP_BZIP2: {"a.txt": b"hello"}.
  expect(() => readZip(Buffer.from(BZIP2, 'base64'), 'x.zip')).toThrow(
    /a\.txt packed by method 12; only stored and deflated/,
  );
});

test('a flipped bit in a file is never read past, stored or deflated', () => {
  const content = bytes('hello '.repeat(50));
  for (const stored of [false, true]) {
    const zip = writeZip([entry('a.txt', content, stored)]);
    const end = zip.length - 22 - 46 - 5; // end record, directory
    fc.assert(
      fc.property(
        fc.integer({ min: 35, max: end - 1 }),
        fc.integer({ min: 0, max: 7 }),
        (at, bit) => {
          const damaged = zip.slice();
          damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
          // A bit of padding after the last deflated block changes nothing.
          try {
            expect(readZip(damaged, 'x.zip').get('a.txt')).toEqual(content);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(LabError);
          }
        },
      ),
    );
  }
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

test('a file that the directory and its own header call otherwise is refused, in zip64 too', () => {
  const zip = writeZip([entry('a.txt', bytes('1')), entry('folder/b.txt', bytes('2'), true)]);
  const names = [
    ...[35, 36].map((at) => at - 5),
    ...Array.from({ length: 12 }, (_, i) => zip.length - 22 - 12 + i),
  ];
  for (const at of names) {
    const lying = zip.slice();
    lying[at] = (lying[at] ?? 0) ^ 1;
    expect(() => readZip(lying, 'x.zip'), String(at)).toThrow(/^x\.zip calls a file "/);
  }
  const zip64 = Buffer.from(ZIP64, 'base64');
  zip64[zip64.indexOf('a.txt')] = 0x62; // b
  expect(() => readZip(zip64, 'x.zip')).toThrow(
    'x.zip calls a file "a.txt" in its directory and "b.txt" before its content',
  );
});

test('a zip with something before it, or fewer files than its end says, is refused in words', () => {
  const zip = writeZip([entry('a.txt', bytes('1'))]);
  const before = Uint8Array.from([...bytes('#!/bin/sh\n'), ...zip]);
  expect(() => readZip(before, 'x.zip')).toThrow(
    'x.zip has 0 files where its end says that 1 are: it is cut, or something was put before it',
  );
  const more = zip.slice();
  more[zip.length - 12] = 2; // how many files the end record counts
  expect(() => readZip(more, 'x.zip')).toThrow('x.zip has 1 files where its end says that 2 are');
});

test('a file that is encrypted is refused as such', () => {
  const zip = writeZip([entry('a.txt', bytes('1'), true)]);
  zip[zip.length - 22 - 51 + 8] = 1; // the directory's flags: bit 0
  expect(() => readZip(zip, 'x.zip')).toThrow('x.zip holds a.txt encrypted');
});

const PYTHON_ZIP =
  'UEsDBBQAAAgIAAAAIQDOi28mBQAAABQAAAAGAAAAw7wudHh0S0zEBABQSwECFAMUAAAICAAAACEAzotvJgUAAAAUAAAABgAAAAAAAAAAAAAAgAEAAAAAw7wudHh0UEsFBgAAAAABAAEANAAAACkAAAAOAG1hZGUgZWxzZXdoZXJl';
const ZIP64 =
  'UEsDBC0AAAAAAAAAIQCGphA2//////////8FABQAYS50eHQBABAABQAAAAAAAAAFAAAAAAAAAGhlbGxvUEsBAi0ALQAAAAAAAAAhAIamEDb//////////wUAHAAAAAAAAAAAAAAA/////2EudHh0AQAYAAUAAAAAAAAABQAAAAAAAAAAAAAAAAAAAFBLBgYsAAAAAAAAAC0ALQAAAAAAAAAAAAEAAAAAAAAAAQAAAAAAAABPAAAAAAAAADwAAAAAAAAAUEsGBwAAAACLAAAAAAAAAAEAAABQSwUGAAAAAP///////////////wAA';
const BZIP2 =
  'UEsDBC4AAAAMAAAAIQCGphA2KQAAAAUAAAAFAAAAYS50eHRCWmg5MUFZJlNZGTFlPQAAAIEAAkSgACGaaDNNBzOLuSKcKEgMmLKegFBLAQIuAy4AAAAMAAAAIQCGphA2KQAAAAUAAAAFAAAAAAAAAAAAAACAAQAAAABhLnR4dFBLBQYAAAAAAQABADMAAABMAAAAAAA=';
