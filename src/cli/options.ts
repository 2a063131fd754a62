/** Reads option values off the command line; what does not fit is wrong use, never a default. */

import { Option } from 'commander';
import { EXPECTED_INDICES, parseIndices } from '../formats/indices.ts';
import type { BackendName } from '../records.ts';
import { WrongUse } from './output.ts';

/** `--ids 3,7,11`. */
export function idList(text: string): number[] {
  const ids = text.trim() === '' ? [] : text.split(',').map((part) => wholeNumber(part, '--ids'));
  if (ids.length > 0) return ids;
  throw new WrongUse('--ids is empty; expected token ids such as 3,7,11.');
}

/** `0-9`, `3` or `0-4,8`: indices in the order given, each once. */
export function indexList(text: string): readonly number[] {
  const indices = parseIndices(text);
  if (indices !== null) return indices;
  throw new WrongUse(`--tasks ${text} was given; expected ${EXPECTED_INDICES}.`);
}

/** `--date 2026-11-29`: a day of the calendar, as ISO 8601 writes it. */
export function day(text: string): string {
  const at = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  // An engine may take the 30th of February for the 2nd of March.
  if (!Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)) return text;
  throw new WrongUse(`--date ${text} was given; expected a day such as 2026-11-29.`);
}

/** A parser for an option that wants an integer of at least `least`. */
export function integer(name: string, least: number): (text: string) => number {
  return (text) => {
    const value = wholeNumber(text, name);
    if (value >= least) return value;
    throw new WrongUse(`${name} ${text} was given; expected at least ${least}.`);
  };
}

/** A parser for an option that wants a finite number of at least 0. */
export function nonNegative(name: string): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isFinite(value) && value >= 0) return value;
    throw new WrongUse(`${name} ${text} was given; expected a number of at least 0.`);
  };
}

/** `--model`, the same for every command. */
export function modelOption(): Option {
  return new Option(
    '--model <file>',
    'a GGUF file, or the name of a bundled model (household); for run also http://… of a server',
  ).makeOptionMandatory();
}

/** A parser for an option that wants a finite number, also a negative one. */
export function finite(name: string): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isFinite(value)) return value;
    throw new WrongUse(`${name} ${text} was given; expected a number.`);
  };
}

/** `--adapter`, the same for every command. */
export function adapterOption(what = 'a LoRA'): Option {
  return new Option('--adapter <path>', `${what}: a PEFT folder, a zip of one, or a GGUF`);
}

/** `--backend`, the same for every command. */
export function backendOption(): Option {
  const names: readonly BackendName[] = ['wasm', 'webgpu', 'cpu'];
  return new Option('--backend <name>', 'where the model is computed')
    .choices(names)
    .default('wasm' satisfies BackendName);
}

/** `--jobs`, of commands that play many episodes. */
export function jobsOption(): Option {
  return new Option(
    '--jobs <n>',
    'how many episodes are played side by side, each on a thread of its own; results do not depend on it',
  )
    .argParser(integer('--jobs', 1))
    .default(1);
}

/** `--threads`, the same for every command. */
export function threadsOption(): Option {
  return new Option(
    '--threads <n>',
    'how many threads compute on wasm; results do not depend on it (default: one a core, at most 4)',
  ).argParser(integer('--threads', 1));
}

function wholeNumber(text: string, name: string): number {
  const value = /^\s*-?\d+\s*$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new WrongUse(`${name}: found "${text}", expected a whole number.`);
}
