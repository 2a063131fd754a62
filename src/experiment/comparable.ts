/** Which arms are compared: found by what they are set to, never by how they are named. */

import { type FieldName, fields, type MethodName, type Settings } from '../config.ts';
import { acting, setItself } from '../train/methods.ts';
import { type Arm, BASELINE, differing, settingsOf } from './plan.ts';

/** One side of a comparison: a method, and the value of the setting that the claim is about. */
export interface Side {
  readonly method: MethodName;
  /** Absent where a claim is about the method as a whole. */
  readonly at?: { readonly field: FieldName; readonly value: Settings[FieldName] };
  /** True for a method that never trains: settings of training do nothing in it. */
  readonly untrained?: true;
}

export interface ArmPair {
  readonly one: Arm;
  readonly than: Arm;
}

/**
 * All two of `arms` that are these sides and else alike: same start adapter, same settings but seed, method, what
 * the sides name and what a method sets itself. Where one side never trains, settings of training may differ too; those two
 * come after. Otherwise in the order of `arms`.
 */
export function comparable(arms: readonly Arm[], one: Side, than: Side): readonly ArmPair[] {
  const pairs = arms
    .filter((arm) => isSide(arm, one))
    .flatMap((a) =>
      arms.filter((b) => b !== a && isSide(b, than)).map((b) => ({ one: a, than: b })),
    );
  const named: readonly (string | undefined)[] = [one.at?.field, than.at?.field];
  const others = (pair: ArmPair) =>
    besides(pair.one, pair.than).filter((field) => !named.includes(field));
  const started = pairs.filter(({ one: a, than: b }) => a.of === b.of && startOf(a) === startOf(b));
  const alike = started.filter((pair) => others(pair).length === 0);
  if (!one.untrained && !than.untrained) return alike;
  const actAlike = started.filter((pair) => !others(pair).some(acts));
  return [...alike, ...actAlike.filter((pair) => !alike.includes(pair))];
}

/**
 * What the success of an arm is measured against: the first frozen arm of the same start adapter that acts at the same
 * settings; of another frozen arm the first one, since what the two differ in is all that its name says. null for that
 * first one, and where there is none.
 */
export function baselineOf(arm: Arm, arms: readonly Arm[]): Arm | null {
  const frozen = arms.filter(({ method, of }) => method === BASELINE && of === arm.of);
  const [first = null] = frozen;
  if (arm.method === BASELINE) return first?.name === arm.name ? null : first;
  const than: Side = { method: BASELINE, untrained: true };
  return comparable([arm, ...frozen], { method: arm.method }, than)[0]?.than ?? null;
}

/** What keeps two arms from being compared, in words. Example: ["step_limit: 200 and 50"]. */
export function apart(one: Arm, than: Arm): readonly string[] {
  const [a, b] = [settingsOf(one), settingsOf(than)];
  const settings = besides(one, than).filter(acts);
  return [
    ...settings.map((name) => `${name}: ${JSON.stringify(a[name])} and ${JSON.stringify(b[name])}`),
    ...(startOf(one) === startOf(than) ? [] : ['the adapter it starts from']),
  ];
}

/** The settings that two arms differ in besides their methods and what these set themselves. */
function besides(one: Arm, than: Arm): readonly FieldName[] {
  const own = ['method', ...[one, than].flatMap((arm) => setItself(settingsOf(arm)))];
  return differing(one, than).filter((field) => !own.includes(field));
}

function acts(field: FieldName): boolean {
  return acting.includes(fields[field].group);
}

/** Whether an arm is of a side: its method, and what that names. */
export function isSide(arm: Arm, { method, at }: Side): boolean {
  if (arm.method !== method) return false;
  return !at || JSON.stringify(settingsOf(arm)[at.field]) === JSON.stringify(at.value);
}

/** What its episodes start from, by its content where that was read; undefined for fresh adapters. */
export function startOf({ adapter, startAdapter }: Arm): string | undefined {
  return startAdapter?.sha256 ?? adapter;
}
