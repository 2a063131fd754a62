/** How two runs differ: settings, facts, the first event that is not the same, and their adapters. */

import { withoutClock } from '../clock.ts';
import { changedFields, type FieldName } from '../config.ts';
import type { EpisodeEvent, Json } from '../records.ts';
import { adapterFolders, factsOf, startOf } from './bundle.ts';
import type { OpenedRun } from './bundle-read.ts';
import { readPeft } from './peft.ts';

export interface Difference {
  readonly at: string;
  readonly a: Json;
  readonly b: Json;
}

export interface Comparison {
  /** True when the events are the same, value by value; when they were recorded is left out. */
  readonly equal: boolean;
  readonly settings: readonly Difference[];
  readonly facts: readonly Difference[];
  readonly events: { readonly a: number; readonly b: number };
  /** The first event that differs, with up to ten of the places in it; a manifest only where all else is equal. */
  readonly first_difference: {
    readonly seq: number;
    readonly type: { readonly a: string | null; readonly b: string | null };
    readonly places: readonly Difference[];
  } | null;
  readonly adapters: AdapterDifference | null;
}

export interface AdapterDifference {
  readonly modules: number;
  /** Over all values of A and B. */
  readonly max_abs: number;
  /** ‖a − b‖ / ‖a‖ over all values together; null where a is zero. */
  readonly relative: number | null;
  /** Modules that only one of them has. */
  readonly unmatched: readonly string[];
}

export async function compareRuns(a: OpenedRun, b: OpenedRun): Promise<Comparison> {
  const [left, right] = [startOf(a.events).manifest, startOf(b.events).manifest];
  const first = firstDifference(a.events, b.events);
  return {
    equal: first === null,
    settings: changedFields(left.settings, right.settings).map((name: FieldName) => ({
      at: name,
      a: asJson(left.settings[name]),
      b: asJson(right.settings[name]),
    })),
    facts: differences(asJson(factsOf(a.events)), asJson(factsOf(b.events)), '', 100),
    events: { a: a.events.length, b: b.events.length },
    first_difference: first,
    adapters: await compareAdapters(a, b),
  };
}

/** Settings that differ always stand in the first event: what they led to comes before them. */
function firstDifference(
  a: readonly EpisodeEvent[],
  b: readonly EpisodeEvent[],
): Comparison['first_difference'] {
  const most = Math.max(a.length, b.length);
  for (const part of [whatHappened, allOf]) {
    for (let seq = 0; seq < most; seq++) {
      const places = differences(part(a[seq]), part(b[seq]), '', 10);
      if (places.length === 0) continue;
      return { seq, type: { a: a[seq]?.type ?? null, b: b[seq]?.type ?? null }, places };
    }
  }
  return null;
}

function allOf(event: EpisodeEvent | undefined): Json {
  return asJson(event && withoutClock(event));
}

function whatHappened(event: EpisodeEvent | undefined): Json {
  if (event?.type !== 'episode_started') return allOf(event);
  const { manifest: _, ...rest } = withoutClock(event);
  return asJson(rest);
}

/** The leaves that differ, as dotted paths, depth first; at most `most`. */
function differences(a: Json, b: Json, at: string, most: number): Difference[] {
  if (a === b || most <= 0) return [];
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return [{ at, a, b }];
  }
  const found: Difference[] = [];
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    const path = at === '' ? key : `${at}.${key}`;
    const [x, y] = [left.get(key) ?? null, right.get(key) ?? null];
    found.push(...differences(x, y, path, most - found.length));
  }
  return found;
}

/** Events and facts are JSON by construction; what is absent counts as null. */
function asJson(value: unknown): Json {
  return (value ?? null) as Json; // records hold nothing that JSON does not
}

async function compareAdapters(a: OpenedRun, b: OpenedRun): Promise<AdapterDifference | null> {
  const [left, right] = [await matricesOf(a), await matricesOf(b)];
  if (left === null || right === null) return null;
  let maxAbs = 0;
  let squares = 0;
  let norm = 0;
  const shared = [...left.keys()].filter((key) => right.has(key));
  for (const key of shared) {
    const other = right.get(key);
    left.get(key)?.forEach((x, i) => {
      const distance = Math.abs(x - (other?.[i] ?? Number.NaN));
      maxAbs = Math.max(maxAbs, distance);
      squares += distance * distance;
      norm += x * x;
    });
  }
  const unmatched = [...new Set([...left.keys(), ...right.keys()])].filter(
    (key) => !shared.includes(key),
  );
  return {
    modules: shared.length / 2,
    max_abs: maxAbs,
    relative: norm === 0 ? null : Math.sqrt(squares / norm),
    unmatched,
  };
}

/** A and B of every module under its name and size; null where the run keeps no adapter. */
async function matricesOf({ files }: OpenedRun): Promise<ReadonlyMap<string, Float32Array> | null> {
  const config = files.get(`${adapterFolders.latest}/adapter_config.json`);
  const weights = files.get(`${adapterFolders.latest}/adapter_model.safetensors`);
  if (config === undefined || weights === undefined) return null;
  const modules = await readPeft(new TextDecoder().decode(config), weights);
  return new Map(
    modules.flatMap(({ name, a, b }) => [
      [`${name} A [${a.rows}, ${a.cols}]`, a.values] as const,
      [`${name} B [${b.rows}, ${b.cols}]`, b.values] as const,
    ]),
  );
}
