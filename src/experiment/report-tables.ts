/** Success by one thing: a setting that was swept, a part of the tasks, whose arm it is. */

import { fields } from '../config.ts';
import { between } from './between.ts';
import type { Block, Cells } from './document.ts';
import { type Drifts, driftsElsewhere } from './drifting.ts';
import type { Header } from './header.ts';
import { differenceOf, pairsOf } from './paired.ts';
import { BASELINE } from './plan.ts';
import { otherEpisodes } from './report-success.ts';
import {
  decimal,
  figure,
  heading,
  NONE,
  percent,
  percents,
  points,
  pointsRange,
  probability,
  table,
  text,
} from './report-words.ts';
import { isErrorRow, type Row, rowsBy } from './row.ts';
import type { Score } from './scorecard.ts';
import { intervalPlot } from './svg.ts';
import { sweepsOf } from './sweeps.ts';

/** Each setting that arms of one method differ in alone, with the difference to the first of them on the same episodes. */
export function sweeps(scores: readonly Score[], all: readonly Row[]): Block[] {
  const byArm = rowsBy(all, ({ arm }) => arm);
  const rowsOf = ({ arm }: Score) => byArm.get(arm.name) ?? [];
  return sweepsOf(scores).flatMap(({ method, of, field, plain, points: at }) => {
    const { label } = fields[field];
    const whose = of === undefined ? method : `${method} [${of}]`;
    const file = ['sweep', method, field, ...(of?.match(/[\w.-]+/g) ?? [])].join('-').slice(0, 100);
    const reference = at.find(({ score }) => score === plain)?.value ?? '';
    const rows = at.map(({ value, score }): Cells => {
      const pairs = score === plain ? [] : pairsOf(rowsOf(score), rowsOf(plain));
      const difference = differenceOf(pairs, score.arm.name, plain.arm.name);
      return [
        value,
        `${score.solved}/${score.episodes}`,
        percent(score.rate),
        percents(score.clustered),
        points(difference?.points ?? null),
        pointsRange(difference?.interval ?? null),
        difference ? `${difference.better}/${difference.worse}` : NONE,
        decimal(score.kl.median, 3),
        decimal(score.updates, 2),
      ];
    });
    const marks = at.map(({ value, score }) => ({
      label: value,
      at: score.rate,
      low: score.clustered?.low ?? null,
      high: score.clustered?.high ?? null,
    }));
    return [
      heading(`${label} (${whose})`),
      ...otherEpisodes(at.map(({ score }) => score)),
      table(
        [
          ...[field, 'solved', 'rate', '95 % (tasks)'],
          ...[`vs ${reference}`, '95 %', 'better/worse', 'KL median', 'updates'],
        ],
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

interface Group {
  readonly name: string;
  readonly has: (row: Row) => boolean;
  /** What counts once: a task, or where rows were chosen one by one a pair. */
  readonly counted: 'task' | 'pair';
}

/** The frozen policy's rate in parts of the tasks, and how far the others are from it: by kind, and by where it drifts. */
export function parts(scores: readonly Score[], all: readonly Row[]): Block[] {
  const rows = all.filter((row) => !isErrorRow(row));
  const drifts = driftsOfOwners(scores, rows);
  const kinds = [...new Set(rows.flatMap(({ kind }) => kind ?? []))].sort();
  const known = rows.some((row) => drifts(row) === true);
  const groups: readonly Group[] = [
    ...(kinds.length < 2
      ? []
      : kinds.map((name) => ({
          name: name.replaceAll('_', ' '),
          has: ({ kind }: Row) => kind === name,
          counted: 'task' as const,
        }))),
    ...(known
      ? [
          {
            name: 'frozen drifts',
            has: (row: Row) => drifts(row) === true,
            counted: 'pair' as const,
          },
          {
            name: 'it does not',
            has: (row: Row) => drifts(row) === false,
            counted: 'pair' as const,
          },
        ]
      : []),
  ];
  if (groups.length === 0) return [];
  const rowsOf = groups.map(({ has }) => rowsBy(rows.filter(has), ({ arm }) => arm));
  const cell = ({ counted }: Group, at: number, { arm, baseline }: Score) => {
    const byArm = rowsOf[at] ?? new Map<string, readonly Row[]>();
    const own = byArm.get(arm.name) ?? [];
    if (baseline === null) {
      const solved = own.filter((row) => row.solved).length;
      return own.length === 0 ? NONE : `${percent(solved / own.length)} of ${own.length}`;
    }
    const pairs = pairsOf(own, byArm.get(baseline.name) ?? []);
    const found = differenceOf(pairs, arm.name, baseline.name, counted);
    return found ? `${points(found.points)} (${found.better}/${found.worse})` : NONE;
  };
  return [
    heading('Parts of the tasks'),
    text(
      `Of ${BASELINE} the rate, of the others the paired difference to it in points, and how many episodes each alone solved (better/worse). So many small groups are for finding questions, not answers: nothing here is tested.${known ? ' "Frozen drifts" has the tasks in which it failed and repeated itself in the last fifth (above 0.8) with another seed than that of the pair; there a pair counts once, not a task.' : ''}`,
    ),
    table(
      ['arm', ...groups.map(({ name }) => name)],
      scores.map(
        (score): Cells => [score.arm.name, ...groups.map((group, at) => cell(group, at, score))],
      ),
    ),
  ];
}

/** Of a mix that keeps equal names apart, each arm's tasks drift as its own owner's frozen policy does there. */
function driftsOfOwners(
  scores: readonly Score[],
  rows: readonly Row[],
): (row: Row) => boolean | null {
  const owners = new Map<string | undefined, Drifts>();
  for (const { arm } of scores) {
    if (arm.method !== BASELINE || owners.has(arm.of)) continue;
    owners.set(arm.of, driftsElsewhere(rows.filter((row) => row.arm === arm.name)));
  }
  const byArm = new Map(scores.map(({ arm }) => [arm.name, owners.get(arm.of)]));
  return (row) => byArm.get(row.arm)?.(row) ?? null;
}

/** Of a mix that keeps equal names apart, what another model or setting makes of the same arm. */
export function sameElsewhere({ arms }: Header, rows: readonly Row[]): Block[] {
  const lines = between(arms, rows).map(
    ({ one, than, difference: d }): Cells => [
      one.name,
      than.name,
      points(d.points),
      pointsRange(d.interval),
      probability(d.p),
      probability(d.adjusted),
      String(d.pairs),
      `${d.better}/${d.worse}`,
    ],
  );
  if (lines.length === 0) return [];
  return [
    heading('The same arm elsewhere'),
    text(
      'Arms of one name that this mix keeps apart, paired by task and seed as above; Holm corrects for the comparisons of this table.',
    ),
    table(['arm', 'than', 'points', '95 %', 'p', 'p (Holm)', 'pairs', 'better/worse'], lines),
  ];
}
