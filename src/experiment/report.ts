/** The report of an experiment: which tables and figures it has, out of a scorecard. */

import { fieldNames, fields } from '../config.ts';
import { fixed, signed } from '../math/fixed.ts';
import type { Interval } from '../math/statistics.ts';
import type { StartAdapterRef } from '../records.ts';
import { between } from './between.ts';
import { claims } from './claims.ts';
import { apart } from './comparable.ts';
import type { Block, Cells, Report } from './document.ts';
import { type Header, type Mixed, plannedKeys } from './header.ts';
import { type Arm, BASELINE, differing, keyOf, settingsOf } from './plan.ts';
import { designOf, powerInWords } from './power.ts';
import { type Row, sortedRows } from './row.ts';
import { type Score, scorecard } from './scorecard.ts';
import { intervalPlot, linePlot } from './svg.ts';
import { sweepsOf } from './sweeps.ts';

const NONE = 'n/a';

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
      ...success(run),
      ...sameElsewhere(header, rows),
      ...claimsSection(scores, rows),
      ...sweeps(run),
      ...repetition(run),
      ...updates(run),
      ...ablation(run),
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
    ...(builds.size > 1
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
  const pairs = Math.max(0, ...scores.map(({ difference }) => difference?.pairs ?? 0));
  const tasks = Math.max(0, ...scores.map(({ difference }) => difference?.tasks ?? 0));
  const reach = scores.flatMap(({ difference: d }) =>
    d ? (d.interval.high - d.interval.low) / 2 : [],
  );
  const [least, most] = [Math.min(...reach), Math.max(...reach)].map((half) => points(half, false));
  const power =
    pairs === 0
      ? 'there are no pairs yet, so nothing can be compared.'
      : `with up to ${pairs} pairs of ${counted(tasks)}, the intervals of the differences to ${BASELINE} reach ${least === most ? least : `${least} to ${most}`} points either way: a smaller one cannot be told from 0, before any correction for the number of arms.`;
  return [
    ...(experiment.question === '' ? [] : [text(experiment.question)]),
    table(['', ''], facts),
    ...(design ? [text(`As planned: ${powerInWords(design)}`)] : []),
    text(`So far: ${power}`),
  ];
}

function success(scores: readonly Score[]): Block[] {
  const head = [
    ...['arm', 'tasks', 'solved', 'rate', 'SE (tasks)', '95 % (Wilson)', '95 % (tasks drawn)'],
    'errors',
    ...[`vs ${BASELINE}, points`, '95 %', 'p', 'p (Holm)', 'pairs', 'discordant'],
  ];
  const rows = scores.map((score): Cells => {
    const { arm, difference: d } = score;
    return [
      arm.name,
      String(score.tasks),
      `${score.solved}/${score.episodes}`,
      percent(score.rate),
      percent(score.clusteredError),
      percents(score.wilson),
      percents(score.clustered),
      String(score.errors),
      points(d?.points ?? null),
      d ? `${points(d.interval.low)} to ${points(d.interval.high)}` : NONE,
      decimal(d?.p ?? null, 3),
      decimal(d?.adjusted ?? null, 3),
      d ? String(d.pairs) : NONE,
      d ? String(d.discordant) : NONE,
    ];
  });
  const rates = scores.map(({ arm, rate, wilson }) => ({
    label: arm.name,
    at: rate,
    low: wilson?.low ?? null,
    high: wilson?.high ?? null,
  }));
  const differences = scores
    .filter(({ baseline }) => baseline !== null)
    .map(({ arm, difference: d }) => ({
      label: arm.name,
      at: d ? 100 * d.points : null,
      low: d ? 100 * d.interval.low : null,
      high: d ? 100 * d.interval.high : null,
    }));
  return [
    heading('Success'),
    text(
      'Wilson takes episodes as independent; repeats of a task are not, so the standard error and the other interval are from whole tasks (cluster-robust; bootstrap). Where all of n tasks are alike there is no such error, and the interval lets 3 / n of them be otherwise (rule of three). The difference is paired by task and seed and is a mean over tasks; its interval draws tasks too, its test flips signs over tasks, and Holm corrects for all arms of this table, those that differ nowhere too.',
    ),
    ...tryingAgain(scores),
    ...otherEpisodes(scores),
    table(head, rows),
    ...against(scores),
    ...tries(scores),
    figure(
      'success',
      'Share of solved episodes by arm, with the Wilson interval.',
      intervalPlot('Success by arm', rates, { label: 'share solved' }),
    ),
    ...(differences.length === 0
      ? []
      : [
          figure(
            'difference',
            `Paired difference to ${BASELINE} in points, with the interval that draws tasks.`,
            intervalPlot('Difference by arm', differences, { label: 'points', zero: true }),
          ),
        ]),
  ];
}

/** Which arms are compared to another one than the plain frozen one, and which to none. */
function against(scores: readonly Score[]): Block[] {
  const elsewhere: string[] = [];
  const none: string[] = [];
  for (const { arm, baseline } of scores) {
    const plain = scores.find((one) => one.arm.method === BASELINE && one.arm.of === arm.of)?.arm;
    if (!plain || plain === arm || plain.name === baseline?.name) continue;
    if (baseline) elsewhere.push(`${arm.name} to ${baseline.name}`);
    else none.push(`${arm.name} (from ${plain.name} in ${apart(arm, plain).join(', ')})`);
  }
  return [
    ...(elsewhere.length === 0
      ? []
      : [text(`Compared to the frozen arm that acts at their settings: ${elsewhere.join('; ')}.`)]),
    ...(none.length === 0
      ? []
      : [
          text(
            `Compared to none, since no frozen arm starts and acts as they do; they differ: ${none.join('; ')}.`,
          ),
        ]),
  ];
}

/** That rates are of different episodes, where some arms have more than others. */
function otherEpisodes(scores: readonly Score[]): Block[] {
  const counts = scores.map(({ episodes }) => episodes);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (scores.length === 0 || least === most) return [];
  return [
    text(
      `These arms have ${least} to ${most} episodes, so their rates are of different tasks or seeds; what is paired is of the same ones.`,
    ),
  ];
}

/** Which arms' rates are not those of one try. */
function tryingAgain(scores: readonly Score[]): Block[] {
  const again = scores.flatMap(({ arm, tries: mean }) =>
    mean !== null && mean > 1 ? `${arm.name} (${decimal(mean, 2)} tries an episode)` : [],
  );
  if (again.length === 0) return [];
  return [
    text(
      `An episode of ${again.join(', ')} is solved if any of its tries is; all other rates are of one try.`,
    ),
  ];
}

/** Nothing where every task has one try: both are the rate then. */
function tries(scores: readonly Score[]): Block[] {
  const counts = scores[0]?.passes.map(({ k }) => k) ?? [];
  if (counts.length < 2) return [];
  const more = counts.filter((k) => k > 1);
  const rows = scores.map(
    ({ arm, passes }): Cells => [
      arm.name,
      ...passes.map(({ at }) => percent(at)),
      ...passes.filter(({ k }) => k > 1).map(({ hat }) => percent(hat)),
    ],
  );
  return [
    text(
      'pass@k: one of k tries solves the task; pass^k: all of them do. Both are unbiased, and means over the tasks with k tries or more.',
    ),
    table(['arm', ...counts.map((k) => `pass@${k}`), ...more.map((k) => `pass^${k}`)], rows),
  ];
}

function sameElsewhere({ arms }: Header, rows: readonly Row[]): Block[] {
  const lines = between(arms, rows).map(
    ({ one, than, difference: d }): Cells => [
      one.name,
      than.name,
      points(d.points),
      `${points(d.interval.low)} to ${points(d.interval.high)}`,
      decimal(d.p, 3),
      decimal(d.adjusted, 3),
      String(d.pairs),
      String(d.discordant),
    ],
  );
  if (lines.length === 0) return [];
  return [
    heading('The same arm elsewhere'),
    text(
      'Arms of one name that this mix keeps apart, paired by task and seed as above; Holm corrects for the comparisons of this table.',
    ),
    table(['arm', 'than', 'points', '95 %', 'p', 'p (Holm)', 'pairs', 'discordant'], lines),
  ];
}

/** Of a mix that keeps equal names apart, a table for each of its arms' owners. */
function claimsSection(scores: readonly Score[], rows: readonly Row[]): Block[] {
  const owners = [...new Set(scores.map(({ arm }) => arm.of))];
  const tables = owners.flatMap((of): Block[] => {
    const own = scores.filter(({ arm }) => arm.of === of);
    const lines = claims(own, rows).map(
      ({ claim, verdict, numbers }): Cells => [claim, verdict, numbers],
    );
    return [
      ...(of === undefined ? [] : [text(`The arms of ${of}:`)]),
      table(['claim', 'verdict', 'numbers'], lines),
    ];
  });
  return [
    heading('Claims'),
    text(
      'Each claim of the literature against these rows. Differences are paired by task and seed, with the interval that draws tasks and p corrected by Holm for the comparisons of one table; under 5 points either way counts as none. A claim holds or does not only where that decides it.',
    ),
    ...tables,
  ];
}

function sweeps(scores: readonly Score[]): Block[] {
  return sweepsOf(scores).flatMap(({ method, of, field, points: at }) => {
    const { label } = fields[field];
    const whose = of === undefined ? method : `${method} [${of}]`;
    const file = ['sweep', method, field, ...(of?.match(/[\w.-]+/g) ?? [])].join('-').slice(0, 100);
    const rows = at.map(
      ({ value, score }): Cells => [
        value,
        `${score.solved}/${score.episodes}`,
        percent(score.rate),
        percents(score.clustered),
        points(score.difference?.points ?? null),
        decimal(score.kl.median, 3),
        decimal(score.updates, 2),
      ],
    );
    const marks = at.map(({ value, score }) => ({
      label: value,
      at: score.rate,
      low: score.wilson?.low ?? null,
      high: score.wilson?.high ?? null,
    }));
    return [
      heading(`${label} (${whose})`),
      ...otherEpisodes(at.map(({ score }) => score)),
      table(
        [field, 'solved', 'rate', '95 % (tasks drawn)', `vs ${BASELINE}`, 'KL median', 'updates'],
        rows,
      ),
      figure(
        file,
        `Share of solved episodes of ${whose} by ${label.toLowerCase()}.`,
        intervalPlot(`${label}, ${whose}`, marks, { label: 'share solved' }),
      ),
    ];
  });
}

function repetition(scores: readonly Score[]): Block[] {
  const places = ['1st', '2nd', '3rd', '4th', '5th'];
  const rows = scores.flatMap((score): Cells[] => [
    [`${score.arm.name}, solved`, ...score.repetitionSolved.map((v) => decimal(v, 2))],
    [`${score.arm.name}, not solved`, ...score.repetitionFailed.map((v) => decimal(v, 2))],
  ]);
  const plot = (name: string, what: string, of: (score: Score) => Score['repetitionSolved']) =>
    figure(
      name,
      `Mean repetition in each fifth of ${what} episodes.`,
      linePlot(
        `Repetition, ${what}`,
        places,
        scores.map((score) => ({ label: score.arm.name, values: of(score) })),
        { x: 'fifth of the episode', y: 'repetition' },
      ),
    );
  return [
    heading('Repetition'),
    text(
      'Largest similarity of a step with an earlier one, averaged over each fifth of the steps; episodes of fewer than five steps are left out.',
    ),
    table(['episodes', ...places], rows),
    plot('repetition-solved', 'solved', (score) => score.repetitionSolved),
    plot('repetition-failed', 'unsolved', (score) => score.repetitionFailed),
  ];
}

function updates(scores: readonly Score[]): Block[] {
  const trained = scores.filter(({ outcomes }) =>
    Object.keys(outcomes).some((outcome) => outcome !== 'disabled'),
  );
  if (trained.length === 0) return [];
  const kinds = [...new Set(trained.flatMap(({ outcomes }) => Object.keys(outcomes)))].sort();
  const count = (score: Score, kind: string) =>
    String(Object.entries(score.outcomes).find(([name]) => name === kind)?.[1] ?? 0);
  const rows = trained.map(
    (score): Cells => [
      score.arm.name,
      decimal(score.updates, 2),
      decimal(score.rollbacks, 2),
      ...kinds.map((kind) => count(score, kind)),
      decimal(score.meanWeight, 3),
      decimal(score.kl.median, 3),
      decimal(score.kl.p95, 3),
      decimal(score.kl.max, 3),
      String(score.kl.overflowed),
      decimal(score.forgetting, 4),
      decimal(score.forgettingTurns, 4),
    ],
  );
  const longest = Math.max(0, ...trained.map(({ klByUpdate }) => klByUpdate.length));
  const places = Array.from({ length: longest }, (_, i) => String(i + 1));
  const lines = trained.map(({ arm, klByUpdate }) => ({ label: arm.name, values: klByUpdate }));
  return [
    heading('Updates and drift'),
    text(
      'Updates and rollbacks are means an episode; outcomes are counts of boundaries; KL is to the episode start, at every boundary that measured it, refused updates too; one that overflowed is counted alone, and is in no quantile and no figure; forgetting is the rise of the loss (nats a token) under the final adapter, on plain English texts and on the turns of a held conversation of the household.',
    ),
    table(
      [
        ...['arm', 'updates', 'rollbacks', ...kinds, 'mean weight'],
        ...[
          'KL median',
          'KL 95 %',
          'KL max',
          'KL overflowed',
          'forgetting, texts',
          'forgetting, turns',
        ],
      ],
      rows,
    ),
    ...(longest === 0
      ? []
      : [
          figure(
            'kl',
            'Median KL to the episode start at each measurement of an episode, in order.',
            linePlot('KL over updates', places, lines, { x: 'measurement', y: 'KL (nats)' }),
          ),
        ]),
  ];
}

/** Where no gain is seen: was anything trained, did it move the policy, and did that change what it did? */
function ablation(scores: readonly Score[]): Block[] {
  const known = scores.filter(({ divergence }) => divergence !== null && divergence.pairs > 0);
  if (known.length === 0) return [];
  const rows = known.map(
    ({ arm, divergence: d, trainedPerEpisode, meanWeight, updates, kl, difference }): Cells => [
      arm.name,
      decimal(trainedPerEpisode, 0),
      decimal(updates, 2),
      decimal(meanWeight, 3),
      decimal(kl.median, 3),
      d ? `${d.changed}/${d.pairs}` : NONE,
      decimal(d?.firstStep ?? null, 0),
      difference ? `${difference.discordant}/${difference.pairs}` : NONE,
    ],
  );
  return [
    heading('From training to behaviour'),
    text(
      `How far each arm's training reached: tokens trained an episode (times gradient steps), updates, the mean weight of what was trained, the KL that it came to, the share of episodes in which some command differs from what ${BASELINE} did at the same task and seed, the median step at which it first does, and the share in which one of the two alone solved the task.`,
    ),
    table(
      [
        ...['arm', 'tokens trained', 'updates', 'mean weight', 'KL median'],
        ...['commands differ', 'from step', 'outcome differs'],
      ],
      rows,
    ),
  ];
}

function actions(scores: readonly Score[]): Block[] {
  const classes = [
    'effective',
    'without_effect',
    'not_admissible',
    'malformed',
    'cut_off',
  ] as const;
  const rows = scores.map((score): Cells => {
    const total = classes.reduce((sum, name) => sum + (score.actions[name] ?? 0), 0);
    return [
      score.arm.name,
      String(total),
      ...classes.map((name) => percent(total === 0 ? null : (score.actions[name] ?? 0) / total)),
      String(score.refused),
    ];
  });
  return [
    heading('Actions'),
    table(
      ['arm', 'steps', ...classes.map((name) => name.replace('_', ' ')), 'refused turns'],
      rows,
    ),
  ];
}

function cost(scores: readonly Score[]): Block[] {
  const rows = scores.map(
    (score): Cells => [
      score.arm.name,
      decimal(score.tries, 2),
      decimal(score.stepsSolved, 1),
      decimal(score.generatedPerSolved, 0),
      decimal(score.trainedPerSolved, 0),
      decimal(score.secondsPerSolved, 1),
    ],
  );
  return [
    heading('Cost'),
    text(
      'Tries of a task are a mean over episodes; steps are those of the try that solved it. The rest is everything that was spent, on all tries and on failures too, over the number of solved episodes. Seconds depend on the machine and on what else ran on it; no other number here does.',
    ),
    table(
      [
        ...['arm', 'tries', 'median steps of solved', 'tokens generated / solved'],
        ...['tokens trained / solved', 'seconds / solved'],
      ],
      rows,
    ),
  ];
}

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

// ---------------------------------------------------------------- words and numbers

const heading = (words: string): Block => ({ kind: 'heading', text: words });
const text = (words: string): Block => ({ kind: 'text', text: words });
const table = (head: readonly string[], rows: readonly Cells[]): Block => ({
  kind: 'table',
  head,
  rows,
});
const figure = (name: string, words: string, svg: string): Block => ({
  kind: 'figure',
  name,
  text: words,
  svg,
});

function decimal(value: number | null, digits: number): string {
  return value === null ? NONE : fixed(value, digits);
}

function percent(value: number | null): string {
  return value === null ? NONE : `${(100 * value).toFixed(1)} %`;
}

function percents(interval: Interval | null): string {
  return interval === null
    ? NONE
    : `${(100 * interval.low).toFixed(1)} to ${(100 * interval.high).toFixed(1)}`;
}

function points(value: number | null, sign = true): string {
  if (value === null) return NONE;
  return sign ? signed(100 * value, 1) : fixed(100 * value, 1);
}

const counted = (tasks: number) => (tasks === 1 ? '1 task' : `${tasks} tasks`);
