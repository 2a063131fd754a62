/** How many episodes each arm solves, and how many more than the frozen policy. */

import { alikeArms } from './alike.ts';
import { apart } from './comparable.ts';
import type { Block, Cells } from './document.ts';
import { BASELINE } from './plan.ts';
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
import type { Row } from './row.ts';
import type { Score } from './scorecard.ts';
import { intervalPlot } from './svg.ts';

export function success(scores: readonly Score[], all: readonly Row[]): Block[] {
  const head = [
    ...['arm', 'tasks', 'solved', 'rate', 'SE (tasks)', '95 % (Wilson)', '95 % (tasks)'],
    'errors',
    ...[`vs ${BASELINE}`, '95 %', 'p', 'p (Holm)', 'pairs', 'better/worse'],
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
      pointsRange(d?.interval ?? null),
      probability(d?.p ?? null),
      probability(d?.adjusted ?? null),
      d ? String(d.pairs) : NONE,
      d ? `${d.better}/${d.worse}` : NONE,
    ];
  });
  const rates = scores.map(({ arm, rate, clustered }) => ({
    label: arm.name,
    at: rate,
    low: clustered?.low ?? null,
    high: clustered?.high ?? null,
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
      'Wilson takes episodes as independent; repeats of a task are not, so the standard error and the other interval are from whole tasks (cluster-robust; bootstrap). Where all of n tasks are alike there is no such error, and the interval lets 3 / n of them be otherwise (rule of three). The difference to frozen is in points, paired by task and seed, and a mean over tasks; its interval draws tasks too, its test flips signs over tasks, and Holm corrects p, not the interval, for all arms of this table, those that differ nowhere too. Better and worse are the pairs that the arm or the frozen one alone solved; errors (of engine or world) are in no other number.',
    ),
    ...tryingAgain(scores),
    ...otherEpisodes(scores),
    table(head, rows),
    ...against(scores),
    ...alike(scores, all),
    ...tries(scores),
    figure(
      'success',
      'Share of solved episodes by arm, with the interval that draws tasks.',
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

/** Which arms did nothing apart. */
function alike(scores: readonly Score[], rows: readonly Row[]): Block[] {
  const names = scores.map(({ arm }) => arm.name);
  const groups = alikeArms(names, rows).map(
    ({ arms, episodes }) => `${arms.join(' and ')} (${episodes})`,
  );
  if (groups.length === 0) return [];
  return [
    text(
      `Alike in every episode that they share, commands, training and KL: ${groups.join('; ')}. That is one thing by two names, or a setting that nothing read here; each still counts as a comparison of its own.`,
    ),
  ];
}

/** That rates are of different episodes, where some arms have more than others. */
export function otherEpisodes(scores: readonly Score[]): Block[] {
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
      ...passes.filter(({ k }) => k > 1).map(({ tasks }) => String(tasks)),
    ],
  );
  return [
    text(
      'pass@k: one of k tries solves the task; pass^k: all of them do. Both are unbiased, and means over the tasks with k tries or more.',
    ),
    table(
      [
        ...['arm', ...counts.map((k) => `pass@${k}`), ...more.map((k) => `pass^${k}`)],
        ...more.map((k) => `tasks with ${k}`),
      ],
      rows,
    ),
  ];
}
