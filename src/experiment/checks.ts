/** What a field of a file may be, and the words for what it is instead. Knows no file and no field. */

export interface Check {
  readonly is: (value: unknown) => boolean;
  readonly expected: string;
}

export type Table = Readonly<Record<string, unknown>>;

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
export const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const text: Check = { is: isText, expected: 'a text' };
export const textOrNull: Check = {
  is: (value) => value === null || isText(value),
  expected: 'a text or null',
};
export const count: Check = { is: isCount, expected: 'a whole number from 0' };
export const texts: Check = {
  is: (value) => Array.isArray(value) && value.every(isText),
  expected: 'a list of texts',
};

/** A name out of a closed set. */
export function oneOf(names: readonly string[]): Check {
  return {
    is: (value) => isText(value) && names.includes(value),
    expected: `one of ${names.join(', ')}`,
  };
}

/** The first field that does not fit, in words; null where all do. Example: its seed is -1, expected a whole number from 0. */
export function misfit(table: Table, checks: Readonly<Record<string, Check>>): string | null {
  for (const [field, { is, expected }] of Object.entries(checks)) {
    if (!is(table[field])) return `its ${field} is ${shown(table[field])}, expected ${expected}`;
  }
  return null;
}

/** A value as JSON, cut. */
export function shown(value: unknown): string {
  const words = JSON.stringify(value) ?? 'missing';
  return words.length > 60 ? `${words.slice(0, 60)}…` : words;
}
