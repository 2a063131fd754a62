/** Experiments that differ, as one table where someone asks for it: with the arms of all, and what differs. */

import { LabError } from '../errors.ts';
import { differences, type Header, plannedKeys } from './header.ts';
import { type Arm, differing, settingsOf } from './plan.ts';

/**
 * The header of all their rows together; of one experiment, or of several that are the same, the first. A mix that is
 * mixed again is taken apart first. `headers` are never empty. Throws `bad_input` where one name stands for two arms.
 */
export function mix(headers: readonly [Header, ...Header[]]): Header {
  const experiments: Header[] = [];
  for (const header of headers.flatMap((one) => one.mixed?.experiments ?? [one])) {
    const known = experiments.some((one) => differences(one, header).length === 0);
    if (!known) experiments.push(header);
  }
  const [first = headers[0], ...others] = experiments;
  if (others.length === 0) return first;
  const all = <T>(of: (header: Header) => readonly T[]) => [...new Set(experiments.flatMap(of))];
  return {
    ...first,
    experiment: {
      ...first.experiment,
      tasks: all(({ experiment }) => experiment.tasks),
      seeds: all(({ experiment }) => experiment.seeds),
      methods: all(({ experiment }) => experiment.methods),
    },
    arms: united(experiments),
    planned: all(plannedKeys).length,
    mixed: {
      differences: [...new Set(others.flatMap((other) => differences(first, other)))],
      experiments,
    },
  };
}

/** The arms of all by name, each run where any of them runs it. */
function united(experiments: readonly Header[]): readonly Arm[] {
  const arms = new Map<string, Arm>();
  for (const arm of experiments.flatMap((header) => header.arms)) {
    const known = arms.get(arm.name);
    if (known) checkArm(known, arm);
    if (!known || known.notApplicable !== null) arms.set(arm.name, arm);
  }
  return [...arms.values()];
}

function checkArm(one: Arm, two: Arm): void {
  const [a, b] = [settingsOf(one), settingsOf(two)];
  const starts = [one, two].map(({ startAdapter, adapter }) => startAdapter?.sha256 ?? adapter);
  const found = [
    ...differing(one, two).map(
      (field) => `${field}: ${JSON.stringify(a[field])} and ${JSON.stringify(b[field])}`,
    ),
    ...(starts[0] === starts[1] ? [] : ['it starts from other adapters']),
  ];
  if (found.length === 0) return;
  throw new LabError(
    'bad_input',
    `"${one.name}" is another arm in one experiment than in another (${found.join('; ')}); expected one arm by one name. Mixing is for other tasks, seeds, arms, models or machines: make a report of each by itself.`,
    { arm: one.name },
  );
}
