/** Which two arms a claim compares: found by what they are set to, never by how they are named. */

import { type FieldName, fields, type MethodName, type Settings } from '../config.ts';
import { type Arm, differing, settingsOf } from './plan.ts';

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

/** Groups of settings that act on what is sampled and on the world, with or without training. */
const ACTING: readonly string[] = ['policy', 'run', 'prompt'];

/**
 * The first two of `arms` that are these sides and else alike: same start adapter, same settings but seed, method and
 * what the sides name. Only where no two are and one side never trains, settings of training may differ.
 * null without such arms.
 */
export function comparable(arms: readonly Arm[], one: Side, than: Side): ArmPair | null {
  const pairs = arms
    .filter((arm) => is(arm, one))
    .flatMap((a) => arms.filter((b) => b !== a && is(b, than)).map((b) => ({ one: a, than: b })));
  const named: readonly (string | undefined)[] = ['method', one.at?.field, than.at?.field];
  const others = (pair: ArmPair) =>
    differing(pair.one, pair.than).filter((field) => !named.includes(field));
  const started = pairs.filter((pair) => startOf(pair.one) === startOf(pair.than));
  const alike = started.find((pair) => others(pair).length === 0);
  if (alike || !(one.untrained || than.untrained)) return alike ?? null;
  const acts = (field: FieldName) => ACTING.includes(fields[field].group);
  return started.find((pair) => !others(pair).some(acts)) ?? null;
}

function is(arm: Arm, { method, at }: Side): boolean {
  if (arm.method !== method) return false;
  return !at || JSON.stringify(settingsOf(arm)[at.field]) === JSON.stringify(at.value);
}

/** By its content where that was read. */
function startOf({ adapter, startAdapter }: Arm): string | undefined {
  return startAdapter?.sha256 ?? adapter;
}
