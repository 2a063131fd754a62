import { describe, expect, test } from 'vitest';
import { deriveRng } from '../math/rng.ts';
import { figureFiles, toHtml, toMarkdown } from './document.ts';
import type { Header } from './header.ts';
import { reportOf } from './report.ts';
import { headerOf, rowOf } from './testing-rows.ts';

const header: Header = (() => {
  const plain = headerOf(['frozen', 'attt', 'reflexion']);
  const [frozen, attt, reflexion] = plain.arms;
  if (!frozen || !attt || !reflexion) throw new Error('no arms');
  const rank4 = {
    ...attt,
    name: 'attt lora_rank=4',
    settings: { ...attt.settings, lora_rank: 4 },
  };
  const arms = [frozen, attt, rank4, { ...reflexion, notApplicable: 'It writes no <text>.' }];
  return { ...plain, arms, planned: 12 };
})();
const rows = [0, 1, 2, 3].flatMap((task) => [
  rowOf('frozen', task, 1, { solved: task === 0, outcomes: { disabled: 2 } }),
  rowOf('attt', task, 1, { solved: task < 3, kl: [0.1, 0.4], outcomes: { updated: 2 } }),
  {
    ...rowOf('attt', task, 1, { solved: task < 2 }),
    arm: 'attt lora_rank=4',
    key: `attt lora_rank=4/valid_seen/${task}/1`,
  },
]);
const report = reportOf(header, rows, '2026-11-29', ['A pilot.']);
const tableAfter = (heading: string) => {
  const from = report.blocks.findIndex((b) => b.kind === 'heading' && b.text === heading);
  const found = report.blocks.slice(from).find((b) => b.kind === 'table');
  if (found?.kind !== 'table') throw new Error(`no table under ${heading}`);
  return found;
};

describe('a report', () => {
  test('has a line an arm with rate, intervals and paired difference', () => {
    const { head, rows: lines } = tableAfter('Success');
    const attt = Object.fromEntries(head.map((name, i) => [name, lines[1]?.[i]]));
    // 3 of 4; Wilson by hand from statsmodels: 0.3006 to 0.9544.
    expect(attt).toMatchObject({
      arm: 'attt',
      tasks: '4',
      solved: '3/4',
      rate: '75.0 %',
      'SE (tasks)': '25.0 %', // √(3 / 4 · 1 / 4 / 3)
      '95 % (Wilson)': '30.1 to 95.4',
      'vs frozen': '+50.0',
      pairs: '4',
      'better/worse': '2/0',
    });
    expect(lines.map(([name]) => name)).toEqual(['frozen', 'attt', 'attt lora_rank=4']);
  });

  test('has the chance of one and of all of k tries in a table of their own', () => {
    const seeds = [1, 2, 3];
    const tried = seeds.flatMap((seed) => [
      rowOf('frozen', 0, seed, { solved: seed === 1 }),
      rowOf('frozen', 1, seed, { solved: true }),
    ]);
    const { blocks } = reportOf(headerOf(['frozen'], seeds), tried, '2026-11-29');
    const tries = blocks.filter((b) => b.kind === 'table').find((b) => b.head.includes('pass@2'));
    expect(tries?.head).toEqual([
      ...['arm', 'pass@1', 'pass@2', 'pass@3', 'pass^2', 'pass^3'],
      ...['tasks with 2', 'tasks with 3'],
    ]);
    // Of the first task n 3, c 1: at 1 - C(2, k) / C(3, k) = 1/3, 2/3, 1, and hat 0 for k > 1.
    expect(tries?.rows).toEqual([
      ['frozen', '66.7 %', '83.3 %', '100.0 %', '50.0 %', '50.0 %', '2', '2'],
    ]);
    expect(report.blocks.some((b) => b.kind === 'table' && b.head.includes('pass@1'))).toBe(false);
  });

  test('says which arms are compared to no frozen one, or to another, and why', () => {
    const more = (name: string, method: 'frozen' | 'attt', step_limit: number) => {
      const arm = header.arms.find((one) => one.name === method);
      if (!arm) throw new Error('no arm');
      return { ...arm, name, settings: { ...arm.settings, step_limit } };
    };
    const own = [
      ...[more('attt short', 'attt', 10), more('attt long', 'attt', 200)],
      more('frozen short', 'frozen', 10),
    ];
    const arms = [...header.arms, ...own];
    const given = [
      ...rows,
      ...own.map(({ name, method }) => ({ ...rowOf(method, 0, 1), arm: name })),
    ];
    const { blocks } = reportOf({ ...header, arms }, given, '2026-11-29');
    const words = blocks.flatMap((b) => (b.kind === 'text' ? [b.text] : []));
    expect(words).toContain(
      'Compared to the frozen arm that acts at their settings: attt short to frozen short.',
    );
    expect(words).toContain(
      'Compared to none, since no frozen arm starts and acts as they do; they differ: attt long (from frozen in step_limit: 200 and 50).',
    );
    const success = blocks
      .filter((b) => b.kind === 'table')
      .find((b) => b.head.includes('vs frozen'));
    const first = success?.head.indexOf('vs frozen') ?? -1;
    const line = success?.rows.find(([name]) => name === 'attt long') ?? [];
    expect(line.slice(first)).toEqual(Array.from({ length: 6 }, () => 'n/a'));
    expect(JSON.stringify(report.blocks)).not.toContain('Compared to');
  });

  test('puts a sweep with its plain arm in the order of the values', () => {
    const { rows: lines } = tableAfter('LoRA rank (attt)');
    expect(lines.map(([value, solved]) => [value, solved])).toEqual([
      ['4', '2/4'],
      ['8', '3/4'],
    ]);
  });

  test('compares the arms of a sweep to the plain one on the episodes that both have', () => {
    const { head, rows: lines } = tableAfter('LoRA rank (attt)');
    expect(head.slice(4, 7)).toEqual(['vs 8', '95 %', 'better/worse']);
    // Rank 4 solves two of the three tasks that rank 8 does, and no other.
    expect(lines.map((line) => [line[0], line[4], line[6]])).toEqual([
      ['4', '-25.0', '0/1'],
      ['8', 'n/a', 'n/a'],
    ]);
  });

  test('has the differences by kind of task, where the world names kinds', () => {
    const named = rows.map((row) => ({ ...row, kind: row.task < 1 ? 'heat' : 'cool' }));
    const table = reportOf(header, named, '2026-11-29').blocks.find(
      (b) => b.kind === 'table' && b.head.includes('heat'),
    );
    // Frozen solves task 0 alone, aTTT 0 to 2.
    expect(table?.kind === 'table' && [table.head, ...table.rows.slice(0, 2)]).toEqual([
      ['arm', 'cool', 'heat'],
      ['frozen', '0.0 % of 3', '100.0 % of 1'],
      ['attt', '+66.7 (2/0)', '0.0 (0/0)'],
    ]);
    expect(toMarkdown(report)).not.toContain('## Parts of the tasks');
  });

  test('has the differences where the frozen policy drifts with another seed, and where not', () => {
    const repetition = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1];
    const some = [0, 1, 2].flatMap((task) => [
      // It drifts in task 0 with seed 1, in task 1 with seed 2 and in task 2 with none.
      rowOf('frozen', task, 1, { repetition: task === 0 ? repetition : [] }),
      rowOf('frozen', task, 2, { repetition: task === 1 ? repetition : [] }),
      rowOf('attt', task, 1, { solved: task < 2, repetition: [] }),
    ]);
    const { blocks } = reportOf(headerOf(['frozen', 'attt'], [1, 2]), some, '2026-11-29');
    const table = blocks.find((b) => b.kind === 'table' && b.head.includes('frozen drifts'));
    // Of seed 1 the other seed drifts in task 1 alone; of seed 2 in task 0.
    expect(table?.kind === 'table' && [table.head, ...table.rows]).toEqual([
      ['arm', 'frozen drifts', 'it does not'],
      ['frozen', '0.0 % of 2', '0.0 % of 4'],
      ['attt', '+100.0 (1/0)', '+50.0 (1/0)'],
    ]);
  });

  test('says that its verdicts are interim until all that is planned is there', () => {
    const words = 'these verdicts are of an interim look';
    expect(toMarkdown(report)).not.toContain(words);
    expect(toMarkdown(reportOf(header, rows.slice(1), '2026-11-29'))).toContain(words);
  });

  test('names the arms that have no episode yet, and has no line for them', () => {
    const some = rows.filter(({ arm }) => arm !== 'attt lora_rank=4');
    const { blocks } = reportOf(header, some, '2026-11-29');
    const facts = blocks.find((b) => b.kind === 'table');
    expect(facts?.kind === 'table' && facts.rows.slice(-2)).toEqual([
      ['Arms', '2 run, 1 not yet, 1 not applicable'],
      ['Not run yet', 'attt lora_rank=4'],
    ]);
    expect(toMarkdown({ title: '', blocks })).not.toContain('| attt lora_rank=4 | 0/0');
  });

  test('counts rows of arms, tasks or seeds that are not planned in a sentence, and in nothing else', () => {
    const over = { solved: true, build: '0+gbbb' };
    const strange = [
      ...[rowOf('naive', 0, 1, over), rowOf('attt', 9, 1, over), rowOf('attt', 0, 2, over)],
      { ...rowOf('attt', 0, 1, over), split: 'train' },
    ];
    const { title, blocks } = reportOf(header, [...rows, ...strange], '2026-11-29', ['A pilot.']);
    const sentence = {
      kind: 'text',
      text: 'Left out: 4 rows of arms, tasks or seeds that experiment.json does not plan, attt/train/0/1, naive/valid_seen/0/1, attt/valid_seen/9/1 and others.',
    };
    expect(blocks).toContainEqual(sentence);
    const others = blocks.filter((block) => block.kind !== 'text' || block.text !== sentence.text);
    expect({ title, blocks: others }).toEqual(report);
  });

  test('says which builds made the rows, where several did', () => {
    const later = rows.map((row, i) => ({ ...row, build: i < 5 ? '' : '0+gbbb' }));
    const markdown = toMarkdown(reportOf(header, later, '2026-11-29'));
    expect(markdown).toContain('| Builds | 0: 5 rows; 0+gbbb: 7 rows |');
    // Also where one made all, but not the one that began the folder.
    const moved = rows.map((row) => ({ ...row, build: '0+gbbb' }));
    expect(toMarkdown(reportOf(header, moved, '2026-11-29'))).toContain(
      '| Builds | 0+gbbb: 12 rows |',
    );
    expect(toMarkdown(report)).not.toContain('| Builds');
  });

  test('says where rates are of different episodes', () => {
    const words = (own: typeof rows) => {
      const { blocks } = reportOf(header, own, '2026-11-29');
      return blocks.flatMap((b) =>
        b.kind === 'text' ? (b.text.match(/^These arms have \d+ to \d+ episodes/) ?? []) : [],
      );
    };
    expect(words(rows)).toEqual([]);
    // Of the sweep's two arms the one has 4 and the other 3, as in the table of all.
    const fewer = rows.filter((row) => row.arm !== 'attt lora_rank=4' || row.task > 0);
    expect(words(fewer)).toEqual([
      ...['These arms have 3 to 4 episodes', 'These arms have 3 to 4 episodes'],
    ]);
    // Of the frozen arm alone one is missing.
    const one = rows.filter((row) => row.arm !== 'frozen' || row.task > 0);
    expect(words(one)).toEqual(['These arms have 3 to 4 episodes']);
  });

  test('finds a sweep whose plain arm was not run', () => {
    const arms = header.arms.filter(({ name }) => name !== 'attt');
    const attt = header.arms.find(({ name }) => name === 'attt');
    if (!attt) throw new Error('no arm');
    const rank16 = { ...attt, name: 'attt lora_rank=16' };
    const sixteen = { ...rank16, settings: { ...attt.settings, lora_rank: 16 } };
    const more = rows.map((row) => ({ ...row, arm: row.arm.replace(/^attt$/, sixteen.name) }));
    const { blocks } = reportOf({ ...header, arms: [...arms, sixteen] }, more, '2026-11-29');
    expect(blocks.some((b) => b.kind === 'heading' && b.text === 'LoRA rank (attt)')).toBe(true);
  });

  test('names what is not applicable and why, and every setting', () => {
    expect(tableAfter('Not applicable').rows).toEqual([['reflexion', 'It writes no <text>.']]);
    const settings = report.blocks.filter((b) => b.kind === 'table').at(-1);
    expect(settings?.rows.length).toBeGreaterThan(50);
    expect(tableAfter('Settings').rows[2]).toEqual([
      'attt lora_rank=4',
      'method = "attt", lora_rank = 4',
    ]);
  });

  test('says how little its pairs can tell, and decides no claim on them', () => {
    const words = report.blocks.flatMap((b) => (b.kind === 'text' ? [b.text] : [])).join(' ');
    // Of 0, 1, 1 and 0 drawn four times the mean is 0 with 1/16, and 1: half of 100 points. Of 0, 1, 0 and 0 it is 0, and
    // above 3/4 with 1/256 only.
    expect(words).toContain(
      'with up to 4 pairs of 4 tasks, the intervals of the differences to frozen reach 37.5 to 50.0 points either way',
    );
    const verdicts = tableAfter('Claims').rows.map(([, verdict]) => verdict);
    expect(verdicts).not.toContain('holds');
    expect(verdicts).not.toContain('does not hold');
  });

  test('says so little of few tasks, however often they repeat', () => {
    // Two tasks of four go the other way in each of ten seeds: the table's interval is -75 to 75.
    const seeds = Array.from({ length: 10 }, (_, i) => i + 1);
    const often = [0, 1, 2, 3].flatMap((task) =>
      seeds.flatMap((seed) => [
        rowOf('frozen', task, seed, { solved: task === 1 }),
        rowOf('attt', task, seed, { solved: task === 0 }),
      ]),
    );
    const markdown = toMarkdown(reportOf(headerOf(['frozen', 'attt'], seeds), often, '2026-11-29'));
    expect(markdown).toContain('with up to 40 pairs of 4 tasks');
    expect(markdown).toContain('reach 75.0 points either way');
    expect(markdown).toContain('| 0.0 | -75.0 to +75.0 |');
  });

  test('of rows from before a setting existed says that it has no value', () => {
    const arms = header.arms.map((arm) => {
      const { kl_penalty: _, ...settings } = arm.settings;
      return { ...arm, settings: settings as typeof arm.settings }; // as an older file has it
    });
    const markdown = toMarkdown(reportOf({ ...header, arms }, rows, '2026-11-29'));
    expect(markdown).toContain('| kl_penalty | KL penalty | n/a |');
  });

  test('leaves a KL that overflowed out of table and figure, and counts it', () => {
    const most = 1.7976931348623157e308; // as an event has what is not finite
    const over = rows.map((row) => (row.kl.length > 0 ? { ...row, kl: [0.1, most] } : row));
    const { blocks } = reportOf(header, over, '2026-11-29');
    const updates = blocks.find((b) => b.kind === 'table' && b.head.includes('KL overflowed'));
    if (updates?.kind !== 'table') throw new Error('no table');
    const attt = Object.fromEntries(updates.head.map((name, i) => [name, updates.rows[0]?.[i]]));
    expect(attt).toMatchObject({ 'KL median': '0.100', 'KL max': '0.100', 'KL overflowed': '4' });
    const kl = blocks.find((b) => b.kind === 'figure' && b.name === 'kl');
    expect(kl?.kind === 'figure' && kl.svg).not.toMatch(/NaN|Infinity|e\+/);
  });

  test('is the same from the same rows, in whatever order and of whatever split', () => {
    expect(toHtml(reportOf(header, rows, '2026-11-29', ['A pilot.']))).toBe(toHtml(report));
    const random = deriveRng(5, 'order');
    const arms = headerOf(['frozen', 'attt'], [1, 2]);
    const experiment = { ...arms.experiment, tasks: Array.from({ length: 40 }, (_, i) => i) };
    const many = experiment.tasks.flatMap((task) =>
      [1, 2].flatMap((seed) =>
        (['frozen', 'attt'] as const).map((arm) =>
          rowOf(arm, task, seed, { solved: random.next() < 0.5, build: `b${random.int(2)}` }),
        ),
      ),
    );
    const page = (some: typeof many) =>
      toHtml(reportOf({ ...arms, experiment }, some, '2026-11-29'));
    expect(page(many.toReversed())).toBe(page(many));
    expect(page(random.shuffle(many))).toBe(page(many));
  });

  test('of a method that tries again has the steps of the try that solved, and says how many tries there were', () => {
    const arms = headerOf(['frozen', 'reflexion']);
    const some = [0, 1].flatMap((task) => [
      rowOf('frozen', task, 1),
      // Two tries of 50 steps, and one of 12 that solves it.
      rowOf('reflexion', task, 1, {
        ...{ solved: true, tries: 3, steps: 112, repetition: Array<number>(12).fill(0) },
      }),
    ]);
    const markdown = toMarkdown(reportOf(arms, some, '2026-11-29'));
    expect(markdown).toContain('| arm | tries | median steps of solved |');
    expect(markdown).toContain('| frozen | 1.00 | n/a |');
    expect(markdown).toContain('| reflexion | 3.00 | 12.0 |');
    expect(markdown).toContain(
      'An episode of reflexion (3.00 tries an episode) is solved if any of its tries is;',
    );
    expect(toMarkdown(report)).not.toContain('An episode of');
  });

  test('has no seconds where some were not recorded', () => {
    const some = rows.map((row, i) => (i === 0 ? { ...row, seconds: null } : row));
    const markdown = toMarkdown(reportOf(header, some, '2026-11-29'));
    expect(markdown).toContain('| frozen | 1.00 | 10.0 | 400 | 0 | n/a |');
    expect(markdown).toContain('| attt | 1.00 | 10.0 | 133 | 0 | 2.7 |');
  });

  test('as HTML needs no other file and shows text as it is written', () => {
    const html = toHtml(report);
    expect(html).not.toMatch(/(?:src|href)=/);
    expect(html).toContain('Is &lt;b&gt;this&lt;/b&gt; shown');
    expect(html.match(/<svg /g)?.length).toBe(6);
    expect(html).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('columns of words stand to the left, head and all, those of numbers to the right', () => {
    expect(toHtml(report)).toContain('<th scope="col" class="words">verdict</th>');
    expect(toHtml(report)).toContain('<th scope="col">solved</th>');
    expect(toMarkdown(report)).toContain(
      '| claim | verdict | numbers | why it cannot be told |\n| --- | --- | --- | --- |',
    );
  });

  test('has each figure in a file of its own, whatever its arms are called', () => {
    const labels = ['модель.gguf', '模型.gguf', 'Big.gguf', 'big.gguf', 'a b', 'a-b'];
    const arms = labels.flatMap((of) =>
      [4, 8].map((lora_rank) => {
        const [, attt] = headerOf(['frozen', 'attt']).arms;
        if (!attt) throw new Error('no arm');
        const name = `attt lora_rank=${lora_rank} [${of}]`;
        return { ...attt, name, of, settings: { ...attt.settings, lora_rank } };
      }),
    );
    const own = arms.map(({ name }) => ({
      ...rowOf('attt', 0, 1),
      ...{ arm: name, key: `${name}/valid_seen/0/1` },
    }));
    const made = reportOf({ ...header, arms }, own, '2026-11-29');
    const figures = made.blocks.filter((block) => block.kind === 'figure');
    expect(figures.filter(({ name }) => name.startsWith('sweep')).length).toBe(labels.length);
    expect(Object.keys(figureFiles(made)).length).toBe(figures.length);
    const lower = figures.map(({ name }) => name.toLowerCase());
    expect(new Set(lower).size).toBe(figures.length);
  });

  test('as Markdown has the same tables, and names its figures', () => {
    const markdown = toMarkdown(report);
    expect(markdown).toContain('| attt | 4 | 3/4 | 75.0 % |');
    expect(markdown).toContain('](success.svg)');
  });
});
