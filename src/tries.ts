/** Methods that try a failed task again: what the next try begins with, and which runs are tries of one episode. */

import type { EpisodeEnded, RunManifest } from './records.ts';

/** True when no try comes after this one, so that nothing has to be written for it. */
export function isLastTry({ reflections = [], settings }: RunManifest): boolean {
  return reflections.length + 1 >= settings.reflexion_tries;
}

/** All reflections on the tries so far, for the prompt of the next one; null when there is none to come. */
export function nextTry(manifest: RunManifest, ended: EpisodeEnded): readonly string[] | null {
  const written = ended.reflection?.text.trim();
  if (written === undefined || isLastTry(manifest)) return null;
  return [...(manifest.reflections ?? []), written];
}

/** A run that may be one of several tries; `ended` is null while it has no end. */
export interface Tried {
  readonly manifest: RunManifest;
  readonly ended: EpisodeEnded | null;
}

/** The tries of one episode, in order. */
export interface Tries<T> {
  readonly tries: readonly [T, ...T[]];
  /** What a further try has to begin with; null when none is to come. */
  readonly next: readonly string[] | null;
}

/** How many tries of the task came before a run. */
export function triesBefore({ reflections = [] }: RunManifest): number {
  return reflections.length;
}

/** The tries that begin with `first`, out of runs of its task and settings, the ones to prefer first. */
export function triesFrom<T extends Tried>(first: T, runs: readonly T[]): Tries<T> {
  const tries: [T, ...T[]] = [first];
  for (let last = first; ; ) {
    const next = last.ended && nextTry(last.manifest, last.ended);
    const found = next && runs.find(({ manifest }) => beginsWith(manifest, next));
    if (!found) return { tries, next };
    tries.push(found);
    last = found;
  }
}

/**
 * What the next try of an episode begins with, out of the runs of its task and settings that came to their own end and
 * are no forks: nothing written yet where it has no try; null when no try is to come.
 */
export function nextOf(runs: readonly Tried[]): readonly string[] | null {
  const firsts = runs.filter(({ manifest }) => triesBefore(manifest) === 0);
  const due = firsts.map((first) => triesFrom(first, runs).next);
  if (due.includes(null)) return null;
  return due.reduce<readonly string[]>(
    (most, next) => (next && next.length > most.length ? next : most),
    [],
  );
}

/** The runs that none of those to leave out led to: neither these nor the tries that followed one. */
export function without<T extends Tried>(
  runs: readonly T[],
  isLeftOut: (run: T) => boolean,
): readonly T[] {
  const [left, own] = [new Set<T>(), new Set<T>()];
  for (const run of runs) (isLeftOut(run) ? left : own).add(run);
  // What is added meanwhile is walked over too.
  for (const before of left) {
    for (const run of own) {
      if (!follows(run, before) || [...own].some((other) => follows(run, other))) continue;
      own.delete(run);
      left.add(run);
    }
  }
  return runs.filter((run) => own.has(run));
}

function follows({ manifest: run }: Tried, { manifest: before, ended }: Tried): boolean {
  const next = ended && nextTry(before, ended);
  const task = ({ env, task: { split, index }, settings }: RunManifest) =>
    JSON.stringify([env, split, index, settings]);
  return next !== null && beginsWith(run, next) && task(run) === task(before);
}

function beginsWith({ reflections = [] }: RunManifest, written: readonly string[]): boolean {
  return JSON.stringify(reflections) === JSON.stringify(written);
}
