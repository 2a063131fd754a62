import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Header } from '../experiment/header.ts';
import { headerOf, rowOf } from '../experiment/testing-rows.ts';
import { mergeExperiments } from './experiment.ts';
import { openRows, readHeader, readRows, writeHeader } from './rows.ts';
import { scratchFolder } from './testing-scratch.ts';

const folder = scratchFolder();

async function kept(name: string, header: Header): Promise<string> {
  const out = join(folder, name);
  await writeHeader(out, header);
  await using writer = await openRows(out, 'rows.jsonl');
  const { split } = header.experiment;
  for (const { method } of header.arms) {
    const row = rowOf(method, 0, 1, { start: split, split });
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
