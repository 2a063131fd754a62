/**
 * Which kernels of an op run on a device: the names of the variants, the choice in use, and how a choice is
 * written in a run's record. Knows no kernel and times nothing.
 */

import { LabError } from '../errors.ts';

/**
 * The hot ops with their variants, the one that every adapter can run first. `registers` keeps sums in
 * registers and shares nothing; `wide` does so over twice as many; `workgroup` shares what it reads or sums
 * by workgroup memory; `halves` does so with W's integers as float16; `subgroups` sums by the subgroup's own
 * instructions.
 */
export const VARIANTS = {
  /** One row of x: a decoded token. */
  matvec: ['registers', 'workgroup', 'subgroups'],
  /** Many rows of x: prefill, and the forward half of training. */
  matmul: ['registers', 'wide', 'workgroup', 'halves'],
  /** The gradient with respect to x. */
  transpose: ['registers', 'wide'],
  /** One query over the cache. */
  attention: ['registers', 'workgroup'],
  /** Many queries over it. */
  prefill: ['registers', 'wide', 'workgroup'],
} as const;

export type VariantOp = keyof typeof VARIANTS;
export type VariantOf<Op extends VariantOp> = (typeof VARIANTS)[Op][number];
export type Choice = { readonly [Op in VariantOp]: VariantOf<Op> };

const VARIANT_OPS = Object.keys(VARIANTS) as VariantOp[]; // its keys are written above

/** What runs where nothing was measured, tests among it. */
export const FIXED: Choice = {
  matvec: 'registers',
  matmul: 'registers',
  transpose: 'registers',
  attention: 'registers',
  prefill: 'registers',
};

const inUse = new WeakMap<GPUDevice, Choice>();

export function choiceOn(device: GPUDevice): Choice {
  return inUse.get(device) ?? FIXED;
}

/** Sets what runs from now on. Throws `unsupported` where the device cannot run it. */
export function useChoice(device: GPUDevice, choice: Choice): void {
  for (const op of VARIANT_OPS) {
    if (offered(device, op).some((name) => name === choice[op])) continue;
    throw new LabError(
      'unsupported',
      `The kernels ${writeChoice(choice)} were asked for, and this adapter cannot run the variant ${choice[op]} of ${op}; it can run ${offered(device, op).join(', ')}. Use the machine that they were recorded on.`,
      { op, variant: choice[op] },
    );
  }
  // The same object for the same choice: what was prepared for it stays.
  if (writeChoice(choice) !== writeChoice(choiceOn(device))) inUse.set(device, choice);
}

/** The variants of an op that a device has the features for. */
export function offered<Op extends VariantOp>(
  { features, adapterInfo }: Pick<GPUDevice, 'features' | 'adapterInfo'>,
  op: Op,
): readonly VariantOf<Op>[] {
  const names: readonly VariantOf<Op>[] = VARIANTS[op];
  // A walk is shared by one subgroup, which must not reach beyond a workgroup.
  const subgroups = features.has('subgroups') && (adapterInfo.subgroupMaxSize ?? 128) <= 64;
  const halves = features.has('shader-f16');
  return names.filter(
    (name) => (name !== 'subgroups' || subgroups) && (name !== 'halves' || halves),
  );
}

export function runnable(device: GPUDevice, choice: Choice): boolean {
  const runs = (op: VariantOp) => offered(device, op).some((name) => name === choice[op]);
  return VARIANT_OPS.every(runs);
}

/** As in `matvec=registers matmul=wide transpose=registers attention=workgroup prefill=wide`. */
export function writeChoice(choice: Choice): string {
  return VARIANT_OPS.map((op) => `${op}=${choice[op]}`).join(' ');
}

/**
 * What {@link writeChoice} wrote; null for any other text. An op that is not named is taken as fixed: that is
 * what ran before it had variants.
 */
export function readChoice(text: string): Choice | null {
  const parts = text.split(' ').map((part) => part.split('='));
  const choice: Record<VariantOp, string> = { ...FIXED };
  for (const [op = '', name = '', ...more] of parts) {
    const known = VARIANT_OPS.find((each) => each === op);
    if (known === undefined || more.length > 0) return null;
    if (!VARIANTS[known].some((each) => each === name)) return null;
    choice[known] = name;
  }
  return choice as Choice; // every name was looked up among its op's
}

/** Whether two texts of records name the same kernels, though one may be older and name fewer ops. */
export function sameKernels(a: string, b: string): boolean {
  const [one, other] = [readChoice(a), readChoice(b)];
  return one && other ? writeChoice(one) === writeChoice(other) : a === b;
}
