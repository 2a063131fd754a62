/** Reads the rows of an experiment, and says which of two rows of one episode stands. Knows no files. */

import { methodNames } from '../config.ts';
import { LabError } from '../errors.ts';
import { finiteOrMax } from '../math/overflow.ts';
import type { StopReason } from '../records.ts';
import {
  type Check,
  count,
  isCount,
  isNumber,
  isTable,
  misfit,
  oneOf,
  shown,
  text,
  textOrNull,
  texts,
} from './checks.ts';
import { keyOf } from './plan.ts';
import { isErrorRow, type Row } from './row.ts';

/**
 * Adds the rows of a file's text. A last line without its end is that of a process that was killed while it
 * wrote, and is left out. Throws as {@link readRow} and {@link addRow} do.
 */
export function addRows(rows: Map<string, Row>, text: string, name: string): void {
  for (const [i, line] of text.split('\n').slice(0, -1).entries()) {
    addRow(rows, readRow(line, `${name}, line ${i + 1},`), name);
  }
}

/**
 * Adds a row, or settles it with the one that is there: an episode that ended by an error may be tried again, so a
 * result stands before an error, and of two errors the later. Two results must agree in all but their seconds
 * and build; throws `bad_input` where they do not.
 */
export function addRow(rows: Map<string, Row>, row: Row, where: string): void {
  const known = rows.get(row.key);
  if (known && !isErrorRow(known)) {
    if (isErrorRow(row)) return;
    if (!sameResult(known, row)) {
      throw new LabError(
        'bad_input',
        `${where} has another result for ${row.key} than a row before it. Were both made with the same model and settings? Remove one of the two.`,
        { key: row.key },
      );
    }
  }
  rows.set(row.key, row);
}

/** True for rows that equal runs of one episode may give. */
export function sameResult(a: Row, b: Row): boolean {
  const plain = (row: Row) => JSON.stringify({ ...row, seconds: 0, build: '' });
  return plain(a) === plain(b);
}

/**
 * One line as a row of this version. Throws `unsupported` for a row of another schema and `bad_input` for what is
 * none; both say where, what was found and what to do.
 */
export function readRow(line: string, where: string): Row {
  const refuse = (what: string) =>
    new LabError(
      'bad_input',
      `${where} is damaged: ${what}. Restore it, or take it away: what it held is made again.`,
      { where },
    );
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch {
    throw refuse('it is no JSON');
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw refuse(`it holds ${shown(raw)}, expected one row of an experiment`);
  }
  const found: Readonly<Record<string, unknown>> = { ...raw };
  if (typeof found.schema === 'number' && found.schema !== 1) {
    throw new LabError(
      'unsupported',
      `${where} is a row of schema ${found.schema}; this version reads schema 1. Take the version that wrote it.`,
      { where },
    );
  }
  const row: Readonly<Record<string, unknown>> = upgraded(found);
  const wrong = misfit(row, checks);
  if (wrong !== null) throw refuse(wrong);
  const checked = row as unknown as Row; // every field was checked
  const { key, solved, reason } = checked;
  if (solved !== (reason === 'solved')) {
    throw refuse(`its solved is ${solved}, and its reason is "${reason}"`);
  }
  const due = keyOf(checked);
  if (key !== due) throw refuse(`its key is "${key}", and its fields say "${due}"`);
  return checked;
}

/**
 * The first rows were kept without commands and build; their retention is left out, one mean over other texts. JSON has
 * null where a number was not finite: such a KL overflowed, and a retention with such a loss is none.
 */
function upgraded(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { retention, kl, commands = [], build = '' } = row;
  const none =
    isTable(retention) &&
    (retention.texts === undefined || [retention.texts, retention.turns].some(isLost));
  return {
    ...row,
    commands,
    build,
    retention: none ? null : retention,
    kl: Array.isArray(kl) ? kl.map((x) => (x === null ? finiteOrMax(Number.NaN) : x)) : kl,
  };
}

function isLost(losses: unknown): boolean {
  return isTable(losses) && (losses.base === null || losses.adapter === null);
}

// ---------------------------------------------------------------- fields

const reasons: Readonly<Record<StopReason, true>> = {
  solved: true,
  failed: true,
  step_limit: true,
  context_full: true,
  stopped: true,
  environment_error: true,
  engine_error: true,
};

const isLoss = (value: unknown) =>
  isTable(value) && isNumber(value.base) && isNumber(value.adapter);
// JSON has null where a number was not finite.
const isNumberOrNull = (value: unknown) => value === null || isNumber(value);

const counts: Check = {
  is: (value) => isTable(value) && Object.values(value).every(isCount),
  expected: 'whole numbers by name',
};
const numbers: Check = {
  is: (value) => Array.isArray(value) && value.every(isNumberOrNull),
  expected: 'a list of numbers',
};

const checks: Readonly<Record<keyof Row, Check>> = {
  schema: { is: (value) => value === 1, expected: '1' },
  key: text,
  arm: text,
  method: oneOf(methodNames),
  split: text,
  task: count,
  kind: textOrNull,
  seed: count,
  start: text,
  reason: oneOf(Object.keys(reasons)),
  error: textOrNull,
  solved: { is: (value) => typeof value === 'boolean', expected: 'true or false' },
  tries: count,
  steps: count,
  generated: count,
  trained: count,
  updates: count,
  rollbacks: count,
  outcomes: counts,
  actions: counts,
  refused: count,
  commands: texts,
  repetition: numbers,
  kl: numbers,
  weights: numbers,
  retention: {
    is: (value) => value === null || (isTable(value) && isLoss(value.texts) && isLoss(value.turns)),
    expected: 'null, or the losses of texts and turns',
  },
  seconds: { is: (value) => isNumber(value) && Number(value) >= 0, expected: 'seconds from 0' },
  build: text,
};
