/** What an experiment file (TOML) says: tasks, methods, seeds and sweeps. Knows no model and no world. */

import {
  type FieldName,
  fieldNames,
  fieldProblem,
  type MethodName,
  methodNames,
  type Settings,
  type SettingsPatch,
} from '../config.ts';
import { LabError } from '../errors.ts';
import { EXPECTED_INDICES, parseIndices } from '../formats/indices.ts';
import { nearestName } from '../formats/nearest.ts';
import { readToml } from '../formats/toml.ts';
import { isTable, type Table } from './checks.ts';

/** A grid of settings for one method: every combination of the values is an arm. */
export interface Sweep {
  readonly method: MethodName;
  readonly vary: readonly Varied[];
  /** Adapters that its episodes start from, each its own arm; absent where the file's holds. */
  readonly adapters?: readonly string[];
}

export interface Varied {
  readonly field: FieldName;
  readonly values: readonly Settings[FieldName][];
}

export interface Experiment {
  readonly name: string;
  /** What it asks, in the author's words; may be empty. */
  readonly question: string;
  /** A world's id, or its first word, such as `household`. */
  readonly env: string;
  readonly split: string;
  readonly tasks: readonly number[];
  readonly seeds: readonly number[];
  readonly methods: readonly MethodName[];
  /** For every arm, over the defaults of the world. */
  readonly settings: SettingsPatch;
  /** What every episode starts from: a path, beside the file. Absent for fresh adapters. */
  readonly adapter?: string;
  readonly sweeps: readonly Sweep[];
}

const KEYS = [
  ...['name', 'question', 'env', 'split', 'tasks', 'seeds', 'methods', 'settings', 'sweep'],
] as const;

/** What may stand under `[settings]`. */
const settingKeys = [...fieldNames, 'adapter'];

/** What stands elsewhere than among settings, and where. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(KEYS.map((key) => [key, 'stands at the top of the file'])),
  method: 'has a key of its own at the top of the file',
  seed: 'has a key of its own at the top of the file',
  policy_model: 'is not the file’s to say: --model names the model, or the page has it loaded',
};

/**
 * Reads an experiment file:
 *
 *     name = "K"
 *     env = "household"
 *     split = "valid_seen"
 *     tasks = "0-19"
 *     seeds = [1, 2]
 *     methods = ["frozen", "attt"]
 *     [settings]
 *     step_limit = 30
 *     adapter = "adapters/first"   # what every episode starts from
 *     [[sweep]]
 *     method = "attt"
 *     update_interval_k = [1, 5, 10]
 *     adapter = ["adapters/first", "adapters/other.gguf"]
 *
 * Throws `bad_config` that names file, key and what was expected.
 */
export function readExperiment(text: string, file = 'experiment.toml'): Experiment {
  const table = readToml(text, file);
  const { expect, refuse } = expectations(file);
  for (const key of Object.keys(table)) {
    if (!(KEYS as readonly string[]).includes(key)) {
      const known = [...KEYS, ...settingKeys.map((name) => `settings.${name}`)];
      throw refuse(key, `is unknown; the nearest known key is ${nearestName(key, known)}`);
    }
  }
  const method = (key: string, value: unknown): MethodName => {
    const found = methodNames.find((name) => name === value);
    if (found !== undefined) return found;
    const what = value === undefined ? 'is missing' : `names ${shown(value)}`;
    throw refuse(key, `${what}; the methods are ${methodNames.join(', ')}`);
  };
  const methods = expect
    .list('methods', table.methods ?? [])
    .map((name) => method('methods', name));
  const settings: Record<string, unknown> = {};
  const { adapter, ...given } = expect.table('settings', table.settings ?? {});
  for (const [name, value] of Object.entries(given)) {
    settings[expect.field(`settings.${name}`, name, value)] = value;
  }
  const several = '[[sweep]], of which there may be several';
  const sweeps = expect
    .list('sweep', table.sweep ?? [], several)
    .map((raw, nth, { length }): Sweep => {
      const own = (name: string) =>
        `sweep.${name}${length > 1 ? ` (of [[sweep]] ${nth + 1})` : ''}`;
      const { method: of, adapter: starts, ...rest } = expect.table('sweep', raw);
      const vary = Object.entries(rest).map(([name, list]): Varied => {
        const key = own(name);
        const values = expect.values(key, list);
        const [field] = values.map((value) => expect.field(key, name, value));
        return { field: field ?? 'seed', values: values as Settings[FieldName][] }; // each was checked
      });
      const paths = starts === undefined || Array.isArray(starts) ? starts : [starts];
      const adapters = (paths === undefined ? [] : expect.values(own('adapter'), paths)).map(
        (path) => expect.words(own('adapter'), path),
      );
      return { method: method(own('method'), of), vary, ...(adapters.length > 0 && { adapters }) };
    });
  if (methods.length === 0 && sweeps.length === 0) {
    throw refuse('methods', 'has no name and there is no [[sweep]]; expected something to run');
  }
  return {
    name: expect.words('name', table.name),
    question: expect.text('question', table.question ?? ''),
    env: expect.words('env', table.env ?? 'household'),
    split: expect.words('split', table.split),
    tasks: expect.indices('tasks', table.tasks),
    seeds: expect.indices('seeds', table.seeds),
    methods: [...new Set(methods)],
    settings: settings as SettingsPatch, // each value was checked against its field
    ...(adapter !== undefined && { adapter: expect.words('settings.adapter', adapter) }),
    sweeps,
  };
}

function expectations(file: string) {
  const refuse = (key: string, what: string) =>
    new LabError('bad_config', `${file}: ${key} ${what}. Correct it, then start again.`, {
      file,
      key,
    });
  const expect = {
    text(key: string, value: unknown): string {
      if (typeof value === 'string') return value;
      throw refuse(key, `is ${shown(value)}; expected a text`);
    },
    words(key: string, value: unknown): string {
      const found = expect.text(key, value);
      if (found.trim() !== '') return found;
      throw refuse(key, 'is empty; expected a text');
    },
    list(key: string, value: unknown, what = 'a list'): readonly unknown[] {
      if (Array.isArray(value)) return value;
      throw refuse(key, `is ${shown(value)}; expected ${what}`);
    },
    values(key: string, value: unknown): readonly unknown[] {
      const found = expect.list(key, value);
      if (found.length > 0) return found;
      throw refuse(key, 'is an empty list; expected one or more values');
    },
    table(key: string, value: unknown): Table {
      if (isTable(value)) return value;
      throw refuse(key, `is ${shown(value)}; expected a table`);
    },
    indices(key: string, value: unknown): readonly number[] {
      const numbers = typeof value === 'string' ? parseIndices(value) : value;
      const fine = (n: unknown) => typeof n === 'number' && Number.isSafeInteger(n) && n >= 0;
      if (Array.isArray(numbers) && numbers.length > 0 && numbers.every(fine)) {
        return [...new Set<number>(numbers)];
      }
      throw refuse(key, `is ${shown(value)}; expected ${EXPECTED_INDICES}, or [0, 3, 7]`);
    },
    field(key: string, name: string, value: unknown): FieldName {
      if (Object.hasOwn(ELSEWHERE, name)) throw refuse(key, ELSEWHERE[name] ?? '');
      const field = fieldNames.find((known) => known === name);
      if (field === undefined) {
        throw refuse(key, `is unknown; the nearest setting is ${nearestName(name, settingKeys)}`);
      }
      const problem = fieldProblem(field, value);
      if (problem === null) return field;
      throw refuse(key, `= ${shown(value)} ${problem}`);
    },
  };
  return { expect, refuse };
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  // JSON has null for a number that is none.
  const words = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return words.length > 120 ? `${words.slice(0, 120)}…` : words;
}
