import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Header } from '../experiment/header.ts';
import { headerOf, rowOf } from '../experiment/testing-rows.ts';
import { mergeExperiments } from './experiment.ts';
import { openRows, readHeader, readRows, writeHeader } from './rows.ts';
import { scratchFolder } from './testing-scratch.ts';

const folder = scratchFolder();

async function kept(name: string, header: Header, solved = false): Promise<string> {
  const out = join(folder, name);
  await writeHeader(out, header);
  await using writer = await openRows(out, 'rows.jsonl');
  const { split } = header.experiment;
  for (const { method } of header.arms) {
    const row = rowOf(method, 0, 1, { start: split, split, solved });
    await writer.append({ ...row, key: `${method}/${split}/0/1` });
  }
  return out;
}

test('folders that differ are joined only with --mix, and the header keeps what differs', async () => {
  const plain = headerOf(['frozen', 'attt', 'naive']);
  const seen = await kept('seen', plain);
  const unseen = await kept('unseen', {
    ...headerOf(['frozen']),
    experiment: { ...plain.experiment, split: 'valid_unseen' },
  });
  const out = join(folder, 'both');
  await expect(mergeExperiments([unseen, seen], out, false)).rejects.toThrow('or say --mix');
  for (let time = 0; time < 2; time++) {
    expect(await mergeExperiments([unseen, seen], out, true)).toMatchObject({ finished: 4 });
    const header = await readHeader(out);
    expect(header?.arms.map(({ name }) => name)).toEqual(['frozen', 'attt', 'naive']);
    expect(header?.mixed?.differences[0]).toBe('split: "valid_unseen" and "valid_seen"');
    expect((await readRows(out)).size).toBe(4);
  }
  await expect(mergeExperiments([seen], out, false)).rejects.toThrow('experiments mixed there');
});

test('rows of two models are joined with --mix, each under a name that says whose it is', async () => {
  const plain = { ...headerOf(['frozen', 'attt']), model: 'small.gguf' };
  const small = await kept('small', plain);
  const big = await kept('big', { ...plain, model: 'big.gguf', modelSha256: 'ee' }, true);
  const out = join(folder, 'models');
  for (let time = 0; time < 2; time++) {
    expect(await mergeExperiments([small, big], out, true)).toMatchObject({ finished: 4 });
    const rows = await readRows(out);
    expect([...rows].map(([key, { arm, solved }]) => [key, arm, solved])).toEqual([
      ['frozen [small.gguf]/valid_seen/0/1', 'frozen [small.gguf]', false],
      ['attt [small.gguf]/valid_seen/0/1', 'attt [small.gguf]', false],
      ['frozen [big.gguf]/valid_seen/0/1', 'frozen [big.gguf]', true],
      ['attt [big.gguf]/valid_seen/0/1', 'attt [big.gguf]', true],
    ]);
  }
  await expect(mergeExperiments([small, big], small, true)).rejects.toThrow(
    `${small} has rows of frozen; attt, and a mix calls arms of other models or settings otherwise.`,
  );
  expect((await readHeader(small))?.mixed).toBeUndefined();
});
