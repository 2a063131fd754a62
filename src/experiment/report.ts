/** The report of an experiment: which tables and figures it has, out of a scorecard. */

import { fieldNames, fields } from '../config.ts';
import type { StartAdapterRef } from '../records.ts';
import { claims } from './claims.ts';
import type { Block, Cells, Report } from './document.ts';
import { type Header, type Mixed, plannedKeys } from './header.ts';
import { type Arm, BASELINE, differing, keyOf, settingsOf } from './plan.ts';
import { type Design, designOf, powerInWords } from './power.ts';
import { success } from './report-success.ts';
import { parts, sameElsewhere, sweeps } from './report-tables.ts';
import { actions, cost, reach, repetition, updates } from './report-training.ts';
import { counted, heading, NONE, points, table, text } from './report-words.ts';
import { type Row, sortedRows } from './row.ts';
import { type Score, scorecard } from './scorecard.ts';
import { ENOUGH_TASKS, EXCEPTIONS, GAIN, MARGIN } from './verdicts.ts';

/**
 * `date` is when the rows were made, e.g. 2026-11-29; `notes` are put first, one paragraph each. Rows that the
 * header does not plan are counted in a sentence and stand in no table.
 */
export function reportOf(
  header: Header,
  all: readonly Row[],
  date: string,
  notes: readonly string[] = [],
): Report {
  const planned = new Set(plannedKeys(header));
  const isPlanned = (row: Row) => planned.has(keyOf(row));
  const sorted = sortedRows(all, header.arms);
  const rows = sorted.filter(isPlanned);
  const scores = scorecard(header, rows);
  const applicable = scores.filter(({ arm }) => arm.notApplicable === null);
  const run = applicable.filter(({ episodes, errors }) => episodes + errors > 0);
  const waiting = applicable.filter((score) => !run.includes(score));
  return {
    title: `${header.experiment.name}, ${date}`,
    blocks: withOwnFiles([
      ...mixture(header),
      ...notes.map(text),
      ...strangers(sorted.filter((row) => !isPlanned(row))),
      ...opening(header, rows, run, waiting),
      ...success(run, rows),
      ...sameElsewhere(header, rows),
      ...claimsSection(header, scores, rows),
      ...sweeps(run, rows),
      ...parts(run, rows),
      ...repetition(run),
      ...updates(run),
      ...reach(run),
      ...actions(run),
      ...cost(run),
      ...notApplicable(scores),
      ...settings(header),
    ]),
  };
}

/** Each figure in a file of its own, also where a disk takes capitals for small letters. */
function withOwnFiles(blocks: readonly Block[]): Block[] {
  const taken = new Set<string>();
  return blocks.map((block) => {
    if (block.kind !== 'figure') return block;
    let name = block.name;
    for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${block.name}-${n}`;
    taken.add(name.toLowerCase());
    return { ...block, name };
  });
}

// ---------------------------------------------------------------- sections

function mixture({ mixed }: Header): Block[] {
  if (!mixed) return [];
  return [
    text(
      `Mixed: these rows come from ${mixed.experiments.length} experiments that differ (${mixed.differences.join('; ')}). What two arms differ in may come from that and not from the method; pairs and tasks are those of one split.${apartBy(mixed)}`,
    ),
  ];
}

function apartBy({ labels }: Mixed): string {
  if (!labels) return '';
  return ` One name stands for different arms there, so brackets say whose each is (${[...new Set(labels)].join('; ')}), and each is compared within its own.`;
}

function strangers(rows: readonly Row[]): Block[] {
  if (rows.length === 0) return [];
  const keys = rows.slice(0, 3).map(keyOf);
  return [
    text(
      `Left out: ${rows.length} rows of arms, tasks or seeds that experiment.json does not plan, ${keys.join(', ')}${rows.length > keys.length ? ' and others' : ''}.`,
    ),
  ];
}

function opening(
  header: Header,
  rows: readonly Row[],
  scores: readonly Score[],
  waiting: readonly Score[],
): Block[] {
  const { experiment, appVersion, planned, mixed } = header;
  /** Of every experiment whose rows stand here, each value once. */
  const each = (of: (one: Header) => string) =>
    [...new Set((mixed?.experiments ?? [header]).map(of))].join('; ');
  const builds = new Map<string, number>();
  for (const { build } of rows) builds.set(build, (builds.get(build) ?? 0) + 1);
  const facts: Cells[] = [
    ['World and split', each((one) => `${one.env}, ${one.experiment.split}`)],
    ['Task set', `${each((one) => one.taskSet)} (hash of every task's first world and text)`],
    [
      'Tasks, seeds',
      each(
        ({ experiment: { tasks, seeds } }) => `${counted(tasks.length)}, seeds ${seeds.join(', ')}`,
      ),
    ],
    ['Model', each((one) => `${one.model}, sha256 ${one.modelSha256}`)],
    ['Engine', each((one) => `${one.backend}, version ${one.appVersion}`)],
    ...([...builds.keys()].some((build) => build !== '' && build !== appVersion)
      ? [
          [
            'Builds',
            [...builds].map(([name, n]) => `${name || appVersion}: ${n} rows`).join('; '),
          ] as const,
        ]
      : []),
    ['Episodes', `${rows.length} finished of ${planned} planned`],
    [
      'Arms',
      `${scores.length} run, ${waiting.length} not yet, ${header.arms.length - scores.length - waiting.length} not applicable`,
    ],
    ...(waiting.length === 0
      ? []
      : [['Not run yet', waiting.map(({ arm }) => arm.name).join('; ')] as const]),
  ];
  const design = mixed ? null : designOf({ experiment, arms: header.arms });
  return [
    ...(experiment.question === '' ? [] : [text(experiment.question)]),
    table(['', ''], facts),
    ...(design ? [text(`As planned: ${powerInWords(design)}`)] : []),
    text(`So far: ${soFar(scores, design)}`),
  ];
}

/** What the pairs that are there can tell, and those that are planned could if they were like these. */
function soFar(scores: readonly Score[], design: Design | null): string {
  const found = scores.flatMap(({ difference }) => difference ?? []);
  const pairs = Math.max(0, ...found.map((one) => one.pairs));
  if (pairs === 0) return 'there are no pairs yet, so nothing can be compared.';
  const tasks = Math.max(...found.map((one) => one.tasks));
  const halves = found.map(({ interval }) => (interval.high - interval.low) / 2);
  const [least, most] = [Math.min(...halves), Math.max(...halves)].map((half) =>
    points(half, false),
  );
  const all = found.reduce((sum, one) => sum + one.pairs, 0);
  const discordant = found.reduce((sum, { better, worse }) => sum + better + worse, 0) / all;
  // Where none differs, the planned gain alone makes the variance.
  const likely = design && discordant > GAIN ? { ...design, discordant } : null;
  return [
    `with up to ${pairs} pairs of ${counted(tasks)}, the intervals of the differences to ${BASELINE} reach ${least === most ? least : `${least} to ${most}`} points either way: a smaller one cannot be told from 0, before any correction for the number of arms.`,
    ...(likely ? [`With all that is planned: ${powerInWords(likely)}`] : []),
  ].join(' ');
}

/** Of a mix that keeps equal names apart, a table for each of its arms' owners. */
function claimsSection(
  { planned }: Header,
  scores: readonly Score[],
  rows: readonly Row[],
): Block[] {
  const owners = [...new Set(scores.map(({ arm }) => arm.of))];
  const tables = owners.flatMap((of): Block[] => {
    const found = claims(
      scores.filter(({ arm }) => arm.of === of),
      rows,
    );
    const tried = found.filter(({ verdict }) => verdict !== 'not tried');
    const others = found.filter((claim) => !tried.includes(claim)).map(({ claim }) => claim);
    const lines = tried.map(
      ({ claim, verdict, numbers, why }): Cells => [claim, verdict, numbers, why],
    );
    return [
      ...(of === undefined ? [] : [text(`The arms of ${of}:`)]),
      ...(lines.length === 0
        ? []
        : [table(['claim', 'verdict', 'numbers', 'why it cannot be told'], lines)]),
      ...(others.length === 0 ? [] : [text(`Not tried by these arms: ${others.join('; ')}.`)]),
    ];
  });
  return [
    heading('Claims'),
    text(
      `Each claim of the literature against these rows. Differences are paired by task and seed, in points, with the interval of 95 % that draws tasks, and p corrected by Holm for all comparisons of one table. Nothing is decided on fewer than ${ENOUGH_TASKS} tasks, nor by an arm's errors; verdicts by an interval alone are not corrected for their number.`,
    ),
    ...(rows.length < planned
      ? [
          text(
            'Not all that is planned is here, so these verdicts are of an interim look: who looks often at a growing table finds differences that are none.',
          ),
        ]
      : []),
    ...tables,
    text(
      `What the words of a claim mean. ${points(MARGIN, false)} points are half of the gain that the literature claims; the rule of three lets three of the tasks be unlike all that were seen.`,
    ),
    table(['words', 'holds', 'does not hold'], rules),
  ];
}

const rules: readonly Cells[] = [
  ['raises, beats, is worse', 'told from 0: corrected p < 0.05', 'told from 0 the other way'],
  ['5 points or more', 'the interval is at 5 or above', 'the interval is below 5'],
  [
    'slightly worse',
    'told from 0, and the interval is below 5 points',
    'told from 0 the other way, or the interval is at 5 or above',
  ],
  [
    'nothing, alike, as much',
    `the interval, widened by the rule of three, leaves out ${points(MARGIN, false)} points`,
    'told from 0, however small',
  ],
  [
    'KL past a limit',
    `more than ${100 * EXCEPTIONS} % of the episodes that measured it pass it at some boundary, by the interval of that share`,
    'fewer do, by the interval',
  ],
  [
    'KL under a limit',
    `fewer than ${100 * EXCEPTIONS} % pass it, by the interval`,
    'more do, by the interval',
  ],
  [
    'repetition falls, passes 0.8',
    'the interval of the mean over tasks is there',
    'the interval is on the other side',
  ],
];

function notApplicable(scores: readonly Score[]): Block[] {
  const rows = scores.flatMap(({ arm }): Cells[] =>
    arm.notApplicable === null ? [] : [[arm.name, arm.notApplicable]],
  );
  return rows.length === 0 ? [] : [heading('Not applicable'), table(['arm', 'why'], rows)];
}

function settings({ arms }: Header): Block[] {
  const base = arms.find(({ name }) => name === BASELINE) ?? arms[0];
  if (base === undefined) return [];
  const differing = arms.map((arm): Cells => [arm.name, changes(base, arm) || 'nothing']);
  const all = fieldNames
    .filter((name) => name !== 'seed' && name !== 'method')
    // A header of before a setting existed has no value for it.
    .map((name): Cells => [name, fields[name].label, JSON.stringify(base.settings[name]) ?? NONE]);
  return [
    heading('Settings'),
    text(
      `What each arm asks for besides ${base.name}; what a method itself changes is in docs/methods.md.`,
    ),
    table(['arm', `differs from ${base.name} in`], differing),
    table(['setting', 'label', base.name], all),
  ];
}

function changes(base: Arm, arm: Arm): string {
  const its = settingsOf(arm);
  const settings = differing(base, arm).map((name) => `${name} = ${JSON.stringify(its[name])}`);
  const [before, start] = [base, arm].map(({ startAdapter }) => startOf(startAdapter));
  return [...settings, ...(start === before ? [] : [`starts from ${start}`])].join(', ');
}

function startOf(adapter: StartAdapterRef | undefined): string {
  return adapter ? `${adapter.name} (sha256 ${adapter.sha256.slice(0, 12)})` : 'a fresh adapter';
}
