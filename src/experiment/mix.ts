/** Experiments that differ, as one table where someone asks for it: with the arms of all, and what differs. */

import { LabError } from '../errors.ts';
import { startOf } from './comparable.ts';
import { differences, type Header, type Mixed, nameIn, plannedKeys, release } from './header.ts';
import { type Arm, differing, keyOf } from './plan.ts';
import type { Row } from './row.ts';

/**
 * The header of all their rows together; of one experiment, or of several that are the same, the first. A mix that is
 * mixed again is taken apart first. Where one name stands for two arms, of other models or settings, all names say
 * whose they are: `attt [big.gguf]`. `headers` are never empty. Throws `bad_input` where a split is not the same tasks.
 */
export function mix(headers: readonly [Header, ...Header[]]): Header {
  const experiments: Header[] = [];
  for (const header of headers.flatMap((one) => one.mixed?.experiments ?? [one])) {
    const known = experiments.some((one) => differences(one, header).length === 0);
    if (!known) experiments.push(header);
  }
  const [first = headers[0], ...others] = experiments;
  if (others.length === 0) return first;
  checkTasks(experiments);
  const all = <T>(of: (header: Header) => readonly T[]) => [...new Set(experiments.flatMap(of))];
  const labels = labelsOf(experiments);
  const mixed: Mixed = {
    differences: [...new Set(others.flatMap((other) => differences(first, other)))],
    experiments,
    ...(labels && { labels }),
  };
  return {
    ...first,
    experiment: {
      ...first.experiment,
      tasks: all(({ experiment }) => experiment.tasks),
      seeds: all(({ experiment }) => experiment.seeds),
      methods: all(({ experiment }) => experiment.methods),
    },
    arms: united(mixed),
    planned: plannedKeys({ ...first, mixed }).length,
    mixed,
  };
}

/** A row of a folder with this header, as it stands in a mix of that and others. */
export function rowIn(whole: Header, header: Header): (row: Row) => Row {
  const names = new Map<string, string>();
  for (const [i, part] of (header.mixed?.experiments ?? [header]).entries()) {
    const at = whole.mixed?.experiments.findIndex((one) => differences(one, part).length === 0);
    for (const { name } of part.arms)
      names.set(nameIn(header, i, name), nameIn(whole, at ?? 0, name));
  }
  return (row) => {
    const arm = names.get(row.arm) ?? row.arm;
    return { ...row, arm, key: keyOf({ ...row, arm }) };
  };
}

/** The arms of all by name, each run where any of them runs it. */
function united(mixed: Mixed): readonly Arm[] {
  const arms = new Map<string, Arm>();
  for (const [i, header] of mixed.experiments.entries()) {
    const of = mixed.labels?.[i];
    for (const arm of header.arms) {
      const name = nameIn({ mixed }, i, arm.name);
      const known = arms.get(name);
      if (known && known.notApplicable === null) continue;
      arms.set(name, { ...arm, name, ...(of !== undefined && { of }) });
    }
  }
  return [...arms.values()];
}

/** What tells the experiments apart whose equally named arms are not the same; undefined where all are. */
function labelsOf(experiments: readonly Header[]): readonly string[] | undefined {
  const groups: Header[][] = [];
  for (const header of experiments) {
    const own = groups.find((group) => group.every((one) => sameArms(one, header)));
    if (own) own.push(header);
    else groups.push([header]);
  }
  if (groups.length === 1) return undefined;
  const names = namesOf(groups.flatMap(([first]) => first ?? []));
  return experiments.map(
    (header) => names[groups.findIndex((group) => group.includes(header))] ?? '',
  );
}

/** True where an arm of one may have rows of both. */
function sameArms(a: Header, b: Header): boolean {
  return (
    a.modelSha256 === b.modelSha256 &&
    a.backend === b.backend &&
    release(a.appVersion) === release(b.appVersion) &&
    a.arms.every((arm) => {
      const other = b.arms.find(({ name }) => name === arm.name);
      return !other || (differing(arm, other).length === 0 && startOf(arm) === startOf(other));
    })
  );
}

/** A name for each, of as few facts as tell them all apart; a number where none does. */
function namesOf(headers: readonly Header[]): readonly string[] {
  const facts: readonly ((header: Header) => string)[] = [
    ({ model }) => model,
    ({ modelSha256 }) => modelSha256.slice(0, 12),
    ({ backend }) => backend,
    ({ appVersion }) => release(appVersion),
    ({ experiment }) => experiment.name,
    (header) => String(headers.indexOf(header) + 1),
  ];
  const kinds = (names: readonly string[]) => new Set(names).size;
  return facts.reduce<readonly string[]>(
    (names, fact) => {
      const longer = headers.map((one, i) => [names[i] ?? '', fact(one)].join(' ').trim());
      return kinds(longer) > kinds(names) ? longer : names;
    },
    headers.map(() => ''),
  );
}

function checkTasks(experiments: readonly Header[]): void {
  for (const one of experiments) {
    for (const { env, taskSet, experiment } of experiments) {
      const { split } = experiment;
      if (split !== one.experiment.split || (env === one.env && taskSet === one.taskSet)) continue;
      throw new LabError(
        'bad_input',
        `"${split}" is not the same tasks in one experiment as in another (${one.env}, ${one.taskSet} and ${env}, ${taskSet}). Make a report of each by itself.`,
        { split },
      );
    }
  }
}
