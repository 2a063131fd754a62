/** Single runs as an experiment, so that a report can be made of what was run by hand. */

import { secondsOf } from '../clock.ts';
import type { Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import type { EpisodeEvent, RunManifest } from '../records.ts';
import { isSteering } from '../steered.ts';
import { type Tried, type Tries, triesBefore, triesFrom, without } from '../tries.ts';
import { armName, freeName } from './arm-names.ts';
import { type Header, release } from './header.ts';
import { type Arm, differing, keyOf } from './plan.ts';
import { closeRow, foldRow, isErrorRow, openRow, type Row } from './row.ts';

export interface FinishedRun {
  readonly manifest: RunManifest;
  readonly events: readonly EpisodeEvent[];
}

export interface RunsAsExperiment {
  readonly header: Header;
  readonly rows: readonly Row[];
  /** Sentences for the reader: what such a report cannot say. */
  readonly notes: readonly string[];
}

/**
 * Runs of the newest run's model, start adapter, backend, release, world and split; others are left out and counted, and
 * so are forks and runs that a person steered. Settings that differ make different arms; the tries of one episode make one
 * row; a second episode of one arm, task and seed is left out too. `runs` is newest first. Throws `not_found` without a run.
 */
export function experimentOfRuns(runs: readonly FinishedRun[]): RunsAsExperiment {
  const unforked = without(runs.map(tried), ({ manifest }) => manifest.forkedFrom !== undefined);
  const unsteered = without(unforked, ({ events }) => events.some(isSteering));
  const [newest] = unsteered;
  if (!newest) {
    throw new LabError(
      'not_found',
      'There is no finished run yet but forks and those that a person steered by an update or a rollback. Let one run of its own to its end first.',
    );
  }
  const groupOf = ({ manifest: m }: Tried) =>
    [
      ...[m.modelSha256, m.startAdapter?.sha256, m.backend],
      ...[release(m.appVersion), m.env, m.task.split],
    ].join('\n');
  const same = unsteered.filter((run) => groupOf(run) === groupOf(newest));
  const arms: Arm[] = [];
  const episodes = new Map<string, TriedRun[]>();
  for (const run of same) {
    const { task, settings } = run.manifest;
    const { split, index } = task;
    const key = keyOf({ arm: armOf(settings, arms).name, split, task: index, seed: settings.seed });
    episodes.set(key, [...(episodes.get(key) ?? []), run]);
  }
  const rows: Row[] = [];
  const left = { repeats: 0, parts: 0, unfinished: 0 };
  for (const [key, all] of episodes) {
    const episode = episodeOf(all);
    if (episode === null) {
      left.parts += all.length;
      continue;
    }
    const [first] = episode.tries;
    left.repeats += all.length - episode.tries.length;
    left.unfinished += episode.next === null ? 0 : 1;
    const { task, settings } = first.manifest;
    const open = openRow({ key, arm: armOf(settings, arms).name, pair: 0, task, settings });
    const events = episode.tries.flatMap((run) => run.events);
    rows.push(closeRow(events.reduce(foldRow, open), null, secondsOf(events)));
  }
  const { manifest } = newest;
  return {
    header: {
      schema: 1,
      experiment: {
        name: 'Runs in this browser',
        question: '',
        env: manifest.env,
        split: manifest.task.split,
        tasks: [...new Set(rows.map(({ task }) => task))].sort((a, b) => a - b),
        seeds: [...new Set(rows.map(({ seed }) => seed))].sort((a, b) => a - b),
        methods: [...new Set(arms.map(({ method }) => method))],
        settings: {},
        sweeps: [],
      },
      env: manifest.env,
      taskSet: 'not recorded; each run’s first world is compared instead',
      model: manifest.modelName,
      modelSha256: manifest.modelSha256,
      backend: manifest.backend,
      appVersion: manifest.appVersion,
      arms,
      planned: rows.length,
    },
    rows,
    notes: [
      'These runs were chosen by hand, so their rates are no measure of a method. Forgetting was not recorded.',
      ...counted(
        rows.filter(({ seconds }) => seconds === null).length,
        'episodes have no seconds: not every step of theirs was timed.',
      ),
      ...counted(
        unsteered.length - same.length,
        'runs of another model, start adapter, backend, release, world or split are left out.',
      ),
      ...counted(runs.length - unforked.length, 'forked runs and tries after them are left out.'),
      ...counted(
        unforked.length - unsteered.length,
        'runs that a person steered by an update or a rollback, and tries after them, are left out.',
      ),
      ...counted(left.repeats, 'repeats of the same task, seed and settings are left out.'),
      ...counted(left.parts, 'later tries of a task whose first one is not here are left out.'),
      ...counted(
        left.unfinished,
        'episodes stand here with the tries they have; one more was to come.',
      ),
    ],
  };
}

interface TriedRun extends FinishedRun, Tried {}

function tried(run: FinishedRun): TriedRun {
  const ended = run.events.at(-1);
  return { ...run, ended: ended?.type === 'episode_ended' ? ended : null };
}

/**
 * One episode out of runs of one task, seed and arm, newest first: one that came to its own end before one that did not,
 * a whole one before one with tries to come. Null where no first try is among them.
 */
function episodeOf(runs: readonly TriedRun[]): Tries<TriedRun> | null {
  const preferred = [...runs.filter((run) => !failed(run)), ...runs.filter(failed)];
  const episodes = preferred
    .filter(({ manifest }) => triesBefore(manifest) === 0)
    .map((first) => withCounted(triesFrom(first, preferred), preferred));
  const rank = ({ tries, next }: Tries<TriedRun>) =>
    next !== null ? 1 : tries.some(failed) ? 2 : 0;
  return episodes.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/**
 * The episode with later tries that begin with other words than were written, as where a server never writes the same
 * twice: their number says where they belong.
 */
function withCounted({ tries, next }: Tries<TriedRun>, runs: readonly TriedRun[]): Tries<TriedRun> {
  const last = tries.at(-1);
  if (!last || failed(last) || last.ended?.reason === 'solved') return { tries, next };
  const found = runs.find(({ manifest }) => triesBefore(manifest) === tries.length);
  if (!found) return { tries, next };
  const further = triesFrom(found, runs);
  return withCounted({ tries: [...tries, ...further.tries], next: further.next }, runs);
}

/** True for a run that did not come to its own end. */
function failed({ ended }: TriedRun): boolean {
  return ended === null || isErrorRow(ended);
}

function counted(count: number, words: string): readonly string[] {
  return count > 0 ? [`${count} ${words}`] : [];
}

/** The arm with these settings, seed aside; a new one is named by what differs from its method's first. */
function armOf(settings: Settings, arms: Arm[]): Arm {
  const known = arms.find((arm) => differing(arm, { settings }).length === 0);
  if (known) return known;
  const plain = arms.find(({ method, name }) => method === settings.method && name === method);
  const own = plain ? differing(plain, { settings }) : [];
  const name = armName(
    settings.method,
    Object.fromEntries(own.map((field) => [field, settings[field]])),
  );
  const arm: Arm = {
    name: freeName(name, new Set(arms.map((one) => one.name))),
    method: settings.method,
    settings,
    notApplicable: null,
  };
  arms.push(arm);
  return arm;
}
