import { copyFileSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { attt, json } from './testing.ts';
import { scratchFile } from './testing-scratch.ts';

// Each test starts processes, which wait for a build where a source is newer, on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const tiny = 'e2e/fixtures/engine/tiny.gguf';
const fixture = (name: string) => JSON.parse(readFileSync(`e2e/fixtures/engine/${name}`, 'utf8'));

describe('exit codes', () => {
  test.each([
    [['nonsense'], 2],
    [['decode', '--ids', '1'], 2],
    [['decode', '--model', tiny, '--ids', '1,b'], 2],
    [['logits', '--model', tiny, '--ids', '1', '--backend', 'metal'], 2],
    [['decode', '--model', 'no-such-file', '--ids', '1'], 1],
    [['logits', '--model', tiny, '--ids', '99'], 1],
    [['train', '--model', tiny, '--case', scratchFile('case.json', '{"ids": [')], 1],
    [['tokens', '--model', 'household', '--text-file', tiny], 1], // no text in UTF-8
  ])('%j ends with %i, says why on stderr and prints nothing', async (args, code) => {
    const ran = await attt(...args);
    expect(ran.code).toBe(code);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).not.toMatch(/\n\s+at /);
    expect(ran.stderr.length).toBeGreaterThan(20);
  });

  test('a folder that cannot be is named, with what to do', async () => {
    const file = scratchFile('taken', '');
    const where = ['--model', 'household', '--split', 'train', '--tasks', '0', '--out', file];
    const ran = await attt('run', ...where);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain(`The folder "${file}" could not be made: ${file} is a file.`);
    expect(ran.stderr).toContain('Name a place that may be written to.');
  });

  test('asking for help is no fault', async () => {
    expect((await attt('--help')).code).toBe(0);
  });
});

describe.each(['wasm', 'cpu'])('on %s', (backend) => {
  test("logits are PyTorch's, row by row", async () => {
    const { ids, logits_base } = fixture('tiny_logits.json');
    const where = ['--model', tiny, '--backend', backend, '--ids', ids.join(',')];
    const all = (await json('logits', ...where)) as { logits: number[][] };
    const last = (await json('logits', ...where, '--last')) as { logits: number[][] };
    expect(all.logits).toHaveLength(ids.length);
    const worst = logits_base.flatMap((row: number[], i: number) =>
      row.map((value, j) => Math.abs(value - (all.logits[i]?.[j] ?? Number.NaN))),
    );
    expect(Math.max(...worst)).toBeLessThan(1e-4);
    expect(last.logits).toEqual(all.logits.slice(-1));
  });
});

describe('a model in several files', () => {
  const first = 'e2e/fixtures/engine/tiny-00001-of-00003.gguf';

  test('is read whole when one of them is named', async () => {
    const where = ['--ids', '3,7,11', '--last', '--backend', 'cpu'];
    const joined = await json('logits', '--model', first, ...where);
    expect(joined).toEqual(await json('logits', '--model', tiny, ...where));
  });

  test('names the file that is not beside it', async () => {
    const alone = scratchFile('tiny-00001-of-00003.gguf', '');
    copyFileSync(first, alone);
    const { code, stderr } = await attt('logits', '--model', alone, '--ids', '3');
    expect(code).toBe(1);
    expect(stderr).toMatch(/in 3 files; "tiny-00002-of-00003\.gguf" is missing beside/);
  });
});

test.each(['visible', 'visible_all_modules'])(
  "training the case %s gives PyTorch's numbers under PEFT's names",
  async (name) => {
    const expected = fixture('tiny_training.json')[name];
    const file = scratchFile('case.json', JSON.stringify(expected));
    const trained = (await json('train', '--model', tiny, '--case', file)) as Record<
      string,
      unknown
    >;
    expect(Object.keys(trained).sort()).toEqual(
      [
        ...['losses', 'ce_before', 'ce_after', 'grad_norm_step1', 'grad_first4_step1'],
        ...['kl_adapter_base_before', 'kl_base_adapter_before'],
        ...['kl_adapter_base_after', 'kl_base_adapter_after'],
        ...['param_norm_after', 'param_first4_after'],
      ].sort(),
    );
    const first4 = (whole: Record<string, number[][]>) =>
      Object.fromEntries(
        Object.entries(whole).map(([key, rows]) => [key, rows.flat().slice(0, 4)]),
      );
    const reference = { ...expected, param_first4_after: first4(expected.param_after) };
    for (const [key, value] of Object.entries(trained)) {
      const far = farApart(value, reference[key]);
      expect(far, key).toEqual([]);
    }
  },
);

describe('--adapter', () => {
  const adapters = 'e2e/fixtures/adapters';

  test("a rank-stabilised PEFT folder gives PEFT's logits", async () => {
    const expected = JSON.parse(readFileSync(`${adapters}/rslora_expected.json`, 'utf8'));
    const { logits } = (await json(
      ...['logits', '--model', tiny, '--adapter', `${adapters}/ad_rslora`],
      ...['--ids', expected.ids.join(',')],
    )) as { logits: number[][] };
    const far = logits.flatMap((row, i) =>
      row.map((value, j) => Math.abs(value - expected.logits[i][j])),
    );
    expect(Math.max(...far)).toBeLessThan(1e-3);
  });

  test.each([
    ['ad_bad', '12'],
    ['ad_fullhead', 'lm_head'],
    ['none', 'ENOENT'],
  ])('%s is refused with %s in the message, and nothing is computed', async (name, words) => {
    const ran = await attt(
      'logits',
      '--model',
      tiny,
      '--ids',
      '3',
      '--adapter',
      `${adapters}/${name}`,
    );
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain(words);
  });

  test('what train keeps is what logits takes: the loss of the last id is the same', async () => {
    const given = fixture('tiny_training.json').visible_all_modules;
    const file = scratchFile('case.json', JSON.stringify(given));
    const folder = `${file}-adapter`;
    const { ce_after } = (await json(
      ...['train', '--model', tiny, '--case', file, '--save-adapter', folder],
    )) as { ce_after: number[] };
    const { logits } = (await json(
      ...['logits', '--model', tiny, '--adapter', folder, '--last'],
      ...['--ids', given.ids.slice(0, -1).join(',')],
    )) as { logits: number[][] };
    const row = logits[0] ?? [];
    const top = Math.max(...row);
    const all = top + Math.log(row.reduce((sum, value) => sum + Math.exp(value - top), 0));
    expect(all - (row[given.ids.at(-1)] ?? Number.NaN)).toBeCloseTo(ce_after.at(-1) ?? 0, 5);
  });
});

/** Places where two trees of numbers differ by more than 1e-4 relative and 1e-6 absolute. */
function farApart(found: unknown, expected: unknown, path = ''): string[] {
  if (typeof expected === 'number') {
    const near =
      typeof found === 'number' &&
      Math.abs(found - expected) <= Math.max(1e-6, 1e-4 * Math.abs(expected));
    return near ? [] : [`${path}: ${found}, expected ${expected}`];
  }
  if (typeof expected !== 'object' || expected === null) return [`${path}: nothing to compare`];
  const other = (found ?? {}) as Record<string, unknown>; // a missing key is reported as undefined
  return [...new Set([...Object.keys(expected), ...Object.keys(other)])].flatMap((key) =>
    farApart(other[key], (expected as Record<string, unknown>)[key], `${path}/${key}`),
  );
}
