/** What rows need to be comparable: the experiment with its task set, model and machine. */

import { methodNames } from '../config.ts';
import { LabError } from '../errors.ts';
import { formatIndices } from '../formats/indices.ts';
import type { BackendName } from '../records.ts';
import {
  type Check,
  count,
  isCount,
  isTable,
  misfit,
  shown,
  type Table,
  text,
  textOrNull,
  texts,
} from './checks.ts';
import type { Experiment } from './experiment.ts';
import { type Arm, differing, keyOf, settingsOf } from './plan.ts';

/** `experiment.json` beside the rows. */
export interface Header {
  readonly schema: 1;
  readonly experiment: Experiment;
  readonly env: string;
  /** Hash of the frozen task set. */
  readonly taskSet: string;
  readonly model: string;
  readonly modelSha256: string;
  readonly backend: BackendName | 'remote';
  readonly appVersion: string;
  readonly arms: readonly Arm[];
  /** Episodes in all shards. */
  readonly planned: number;
  /** Of experiments that differ and stand in one table all the same; absent for one experiment. */
  readonly mixed?: Mixed;
}

export interface Mixed {
  /** In words; a report begins with them. */
  readonly differences: readonly string[];
  /** Each as it stands alone. */
  readonly experiments: readonly Header[];
  /** What stands behind the names of each one's arms; absent where equal names are equal arms. */
  readonly labels?: readonly string[];
}

/**
 * Reads an `experiment.json`. Throws `bad_input` for what is no JSON or has a field that is not as it was written, and
 * `unsupported` for another file and for a method that this version does not have.
 */
export function readHeader(text: string, where: string): Header {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw damaged(where, 'it is no JSON');
  }
  const { schema } = isTable(found) ? found : {};
  if (!isTable(found) || schema !== 1) {
    throw new LabError(
      'unsupported',
      `${where} has ${schema === undefined ? 'no schema' : `schema ${shown(schema)}`}; expected what "attt experiment" writes, with schema 1. Take another folder, or another version.`,
      { where },
    );
  }
  checkHeader(found, where);
  return found as unknown as Header; // every field was checked
}

function damaged(where: string, what: string): LabError {
  return new LabError(
    'bad_input',
    `${where} is damaged: ${what}. Restore it (another shard's folder of the same file has an equal one), or take another folder.`,
    { where },
  );
}

// ---------------------------------------------------------------- fields

const counts: Check = {
  is: (value) => Array.isArray(value) && value.every(isCount),
  expected: 'a list of whole numbers from 0',
};
const table: Check = { is: isTable, expected: 'a table' };

const headerChecks: Readonly<Partial<Record<keyof Header, Check>>> = {
  ...{ env: text, taskSet: text, model: text, modelSha256: text, backend: text },
  ...{ appVersion: text, planned: count, experiment: table },
  arms: {
    is: (value) => Array.isArray(value) && value.every(isTable),
    expected: 'a list of tables',
  },
};
const experimentChecks: Readonly<Partial<Record<keyof Experiment, Check>>> = {
  ...{ name: text, question: text, split: text, tasks: counts, seeds: counts },
};
const armChecks: Readonly<Partial<Record<keyof Arm, Check>>> = {
  ...{ name: text, settings: table, notApplicable: textOrNull },
};
const mixedChecks: Readonly<Partial<Record<keyof Mixed, Check>>> = {
  differences: texts,
  experiments: {
    is: (value) => Array.isArray(value) && value.length > 0 && value.every(isTable),
    expected: 'a list of headers',
  },
  labels: { is: (value) => value === undefined || texts.is(value), expected: texts.expected },
};

/** Throws as {@link readHeader} does. Settings that an older file lacks have their defaults: {@link settingsOf}. */
function checkHeader(header: Table, where: string): void {
  const check = (value: unknown, whose: string, checks: Readonly<Record<string, Check>>): Table => {
    if (!isTable(value)) throw damaged(where, `${whose}it is ${shown(value)}, expected a table`);
    const wrong = misfit(value, checks);
    if (wrong !== null) throw damaged(where, `${whose}${wrong}`);
    return value;
  };
  const { experiment, arms, mixed } = check(header, '', headerChecks);
  check(experiment, 'of the experiment, ', experimentChecks);
  const names = new Set<unknown>();
  for (const arm of Array.isArray(arms) ? arms : []) {
    const { name, method, settings } = check(arm, 'of an arm, ', armChecks);
    if (names.has(name)) throw damaged(where, `two arms are called ${shown(name)}`);
    names.add(name);
    for (const found of [method, isTable(settings) ? settings.method : null]) {
      if (methodNames.some((known) => known === found)) continue;
      throw new LabError(
        'unsupported',
        `${where} has an arm of the method ${shown(found)}; this version has ${methodNames.join(', ')}. Take the version that wrote it.`,
        { where },
      );
    }
  }
  if (mixed === undefined) return;
  const { experiments } = check(mixed, 'of the mix, ', mixedChecks);
  for (const one of Array.isArray(experiments) ? experiments : []) checkHeader(one, where);
}

/** What an arm of the i-th of its experiments is called in a header; of a header that is no mix, what it is called. */
export function nameIn({ mixed }: Pick<Header, 'mixed'>, i: number, arm: string): string {
  const label = mixed?.labels?.[i];
  return label === undefined ? arm : `${arm} [${label}]`;
}

/** The keys of all its episodes, as a plan makes them; of a mix, those of each experiment, once. */
export function plannedKeys(
  header: Pick<Header, 'mixed' | 'arms' | 'experiment'>,
): readonly string[] {
  const keys = (header.mixed?.experiments ?? [header]).flatMap(({ arms, experiment }, i) => {
    const { split, tasks, seeds } = experiment;
    return arms
      .filter(({ notApplicable }) => notApplicable === null)
      .flatMap(({ name }) => {
        const arm = nameIn(header, i, name);
        return seeds.flatMap((seed) => tasks.map((task) => keyOf({ arm, split, task, seed })));
      });
  });
  return [...new Set(keys)];
}

/** What differs between two headers, in words; empty when their rows may stand in one table. */
export function differences(a: Header, b: Header): readonly string[] {
  const found: string[] = [];
  const compare = (what: string, x: unknown, y: unknown) => {
    if (JSON.stringify(x) !== JSON.stringify(y)) {
      found.push(`${what}: ${JSON.stringify(x)} and ${JSON.stringify(y)}`);
    }
  };
  compare('world', a.env, b.env);
  compare('split', a.experiment.split, b.experiment.split);
  compare('task set', a.taskSet, b.taskSet);
  compare('tasks', formatIndices(a.experiment.tasks), formatIndices(b.experiment.tasks));
  compare('seeds', formatIndices(a.experiment.seeds), formatIndices(b.experiment.seeds));
  compare('model', a.modelSha256, b.modelSha256);
  compare('backend', a.backend, b.backend);
  // What stands behind a plus is the build: rows of several may stand in one table, and a report says so.
  compare('version', release(a.appVersion), release(b.appVersion));
  for (const arm of a.arms) {
    const other = b.arms.find(({ name }) => name === arm.name);
    if (!other) continue;
    compare(`what ${arm.name} starts from`, arm.startAdapter?.sha256, other.startAdapter?.sha256);
    compare(`${arm.name} can be run`, arm.notApplicable === null, other.notApplicable === null);
    const [one, two] = [settingsOf(arm), settingsOf(other)];
    for (const field of differing(arm, other)) {
      compare(`${arm.name} ${field}`, one[field], two[field]);
    }
  }
  const alone = (one: Header, other: Header) => {
    const names = other.arms.map(({ name }) => name);
    const own = one.arms.filter(({ name }) => !names.includes(name));
    return own.map(({ name }) => name).join(', ') || 'none';
  };
  const [first, second] = [alone(a, b), alone(b, a)];
  if (first !== second) found.push(`arms of one alone: ${first} and ${second}`);
  const parts = ({ mixed }: Header) => mixed?.experiments.length ?? 1;
  if (parts(a) !== parts(b)) found.push(`experiments mixed there: ${parts(a)} and ${parts(b)}`);
  return found;
}

/** `0.1.0` of `0.1.0+g58ad0bf`. */
export function release(version: string): string {
  return version.split('+')[0] ?? version;
}

/** Throws `bad_input` that says what differs, and `advice`. */
export function checkSame(
  a: Header,
  b: Header,
  where: string,
  advice = 'Use another folder.',
): void {
  const found = differences(a, b);
  if (found.length === 0) return;
  throw new LabError(
    'bad_input',
    `${where} belongs to another experiment, and the two must not stand in one table (${found.join('; ')}). ${advice}`,
    { where },
  );
}
