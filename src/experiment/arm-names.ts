/** What arms are called: their method, and what is set for them alone. No two arms of one table have one name. */

import { fields, type MethodName } from '../config.ts';

/** A text longer than this stands cut in a name. */
const LONGEST = 60;
const CUT = 40;

/** `attt lora_rank=4`: the method, then what is set, a text on one line and not too long. */
export function armName(method: MethodName, set: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(set).map(([name, value]) => `${name}=${shown(name, value)}`);
  return [method, ...parts].join(' ');
}

/** The arms, each after the first of a name with a number: texts that differ may look alike in names. */
export function withOwnNames<A extends { readonly name: string }>(arms: readonly A[]): A[] {
  const taken = new Set<string>();
  return arms.map((arm) => {
    const name = freeName(arm.name, taken);
    taken.add(name);
    return { ...arm, name };
  });
}

/** As its own experiment calls it: `of` is whose it is in a mix. Example: "attt [big.gguf]" of "big.gguf" -> "attt". */
export function plainName({ name, of }: { readonly name: string; readonly of?: string }): string {
  return of === undefined ? name : name.slice(0, -` [${of}]`.length);
}

/** Whether an arm is its method as all settings of the experiment have it, and no line of a sweep. */
export function isPlain(arm: {
  readonly name: string;
  readonly method: MethodName;
  readonly of?: string;
}): boolean {
  return plainName(arm) === arm.method;
}

/** The name, or where it is taken the first of `name (2)`, `name (3)`, … that is not. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let n = 2;
  while (taken.has(`${name} (${n})`)) n++;
  return `${name} (${n})`;
}

function shown(name: string, value: unknown): string {
  const text = String(value);
  const isText = Object.entries(fields).some(
    ([known, { kind }]) => known === name && kind === 'text',
  );
  if (!isText || (text.length <= LONGEST && !/\p{Cc}/u.test(text))) return text;
  const characters = [...text];
  return characters.length <= LONGEST
    ? JSON.stringify(text)
    : `${JSON.stringify(characters.slice(0, CUT).join(''))}…`;
}
