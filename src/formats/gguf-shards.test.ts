import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { readGguf } from './gguf.ts';
import { joinedSource, shardNames } from './gguf-shards.ts';
import { bytesSource } from './source.ts';

// The tiny model, whole and as gguf-py splits it into three (scripts/make-format-fixtures.py).
const fixture = (path: string) => {
  const url = new URL(`../../e2e/fixtures/${path}`, import.meta.url);
  return bytesSource(new Uint8Array(readFileSync(url)), path.split('/').pop() ?? '');
};
const NAMES = ['tiny-00001-of-00003.gguf', 'tiny-00002-of-00003.gguf', 'tiny-00003-of-00003.gguf'];
const shards = NAMES.map((name) => fixture(`engine/${name}`));
const pick = (...numbers: number[]) => joinedSource(shards.filter((_, i) => numbers.includes(i)));

describe('a model in three files', () => {
  const whole = fixture('engine/tiny.gguf');

  test.each([
    [0, 1, 2],
    [2, 0, 1],
  ])(
    'has the tensors and values of the whole one, given in the order %i %i %i',
    async (...order) => {
      const source = joinedSource(order.flatMap((i) => shards.slice(i, i + 1)));
      const joined = await readGguf(source);
      const expected = await readGguf(whole);
      expect(joined.tensors.map(({ name }) => name).sort()).toEqual(
        expected.tensors.map(({ name }) => name).sort(),
      );
      for (const tensor of joined.tensors) {
        const same = expected.tensors.find(({ name }) => name === tensor.name);
        expect(tensor.shape, tensor.name).toEqual(same?.shape);
        expect(await source.read(tensor.offset, tensor.bytes), tensor.name).toEqual(
          await whole.read(same?.offset ?? 0, same?.bytes ?? 0),
        );
      }
      expect(joined.metadata['llama.block_count']).toBe(expected.metadata['llama.block_count']);
    },
  );

  test('is refused with the names of the files that are not there', async () => {
    await expect(readGguf(pick(0, 2))).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringMatching(
        /in 3 files and 1 of them is missing: tiny-00002-of-00003\.gguf/,
      ),
    });
    await expect(readGguf(pick(1))).rejects.toThrow(
      /2 of them are missing: tiny-00001-of-00003\.gguf, tiny-00003-of-00003\.gguf/,
    );
  });

  test('is refused when a file comes twice or belongs to another model', async () => {
    const [first] = shards;
    if (first === undefined) throw new Error('no fixture');
    await expect(readGguf(joinedSource([...shards, first]))).rejects.toThrow(
      /File 1 of 3 was given twice/,
    );
    await expect(readGguf(joinedSource([first, whole]))).rejects.toThrow(
      /tiny\.gguf is a whole model by itself/,
    );
  });
});

describe('names and joined reads', () => {
  let joined: ReturnType<typeof joinedSource>;
  beforeAll(() => {
    joined = joinedSource([
      bytesSource(Uint8Array.of(1, 2, 3), 'a'),
      bytesSource(Uint8Array.of(4, 5), 'b'),
    ]);
  });

  test('one name gives all, and a name of another kind none', () => {
    expect(shardNames('m-00002-of-00003.gguf')).toEqual([
      'm-00001-of-00003.gguf',
      'm-00002-of-00003.gguf',
      'm-00003-of-00003.gguf',
    ]);
    expect(shardNames('m-00001-of-00001.gguf')).toBeNull();
    expect(shardNames('model.gguf')).toBeNull();
  });

  test('a read may cross from one file into the next, not beyond the last', async () => {
    expect([...(await joined.read(1, 3))]).toEqual([2, 3, 4]);
    expect([...(await joined.read(3, 2))]).toEqual([4, 5]);
    await expect(joined.read(4, 2)).rejects.toThrow(/hold 5 bytes; asked for 2 at 4/);
  });
});
