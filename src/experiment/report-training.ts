/** What an arm did: repetition, updates and drift, how far they reached, actions and cost. */

import type { Block, Cells } from './document.ts';
import { BASELINE } from './plan.ts';
import { decimal, figure, heading, NONE, percent, table, text } from './report-words.ts';
import type { Score } from './scorecard.ts';
import { linePlot } from './svg.ts';

export function repetition(scores: readonly Score[]): Block[] {
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
      'Repetition of a step: the largest similarity of its words with those of an earlier step of the episode (Jaccard; 0 nothing in common, 1 the same words). Averaged over each fifth of the steps and over episodes; those of fewer than five steps are left out. It is a maximum over all steps before, so it rises with their number: solved episodes are shorter, and part of what sets them apart is that.',
    ),
    table(['episodes', ...places], rows),
    plot('repetition-solved', 'solved', (score) => score.repetitionSolved),
    plot('repetition-failed', 'unsolved', (score) => score.repetitionFailed),
  ];
}

export function updates(scores: readonly Score[]): Block[] {
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
      percent(score.kl.past.half),
      percent(score.kl.past.two),
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
      'A boundary is where an update may come; the table counts how they ended, and has means an episode of updates that were accepted, those undone later included, and of rollbacks that had something to undo. The mean weight is over the texts that were trained, each of which counts once. KL is in nats a token, of the policy now from that of the start of the episode (now ‖ start), exactly over the vocabulary and averaged over the text just trained on, at every boundary that measured it, refused updates too; an episode passes a limit if any of its boundaries does. One that overflowed is counted alone, and is in no quantile and no figure. Forgetting is the rise of the loss (nats a token) under the final adapter, on plain English texts and on the turns of a held conversation of the household. docs/loop.md defines all of them.',
    ),
    table(
      [
        ...['arm', 'updates', 'rollbacks', ...kinds, 'mean weight'],
        ...[
          'KL median',
          'KL 95th percentile',
          'KL max',
          'episodes past 0.5',
          'episodes past 2',
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
export function reach(scores: readonly Score[]): Block[] {
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
      difference ? `${difference.better + difference.worse}/${difference.pairs}` : NONE,
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

export function actions(scores: readonly Score[]): Block[] {
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
    text(
      'How the world took the turns: effective, a command that changed it; without effect, one that is allowed and left it as it was (looking around, too); not admissible, one that is not allowed there; malformed, no command in the text; cut off, the limit of tokens came before the command. Refused turns were sampled again and are no steps.',
    ),
    table(
      ['arm', 'steps', ...classes.map((name) => name.replace('_', ' ')), 'refused turns'],
      rows,
    ),
  ];
}

export function cost(scores: readonly Score[]): Block[] {
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
      'Tries of a task are a mean over episodes; steps are those of the try that solved it. The rest is everything that was spent, on all tries and on failures too, over the number of solved episodes. Tokens trained are those with a weight above 0, times gradient steps; reading the other tokens of a text, measuring KL, a KL penalty, EWC and checks are in the seconds alone. Seconds depend on the machine and on what else ran on it.',
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
