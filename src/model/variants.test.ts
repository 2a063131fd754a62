import { describe, expect, it } from 'vitest';
import {
  FIXED,
  offered,
  readChoice,
  runnable,
  sameKernels,
  VARIANTS,
  writeChoice,
} from './variants.ts';

/** As much of a device as says what it can run. */
function device(features: readonly string[], subgroupMaxSize = 32): GPUDevice {
  const parts = { features: new Set(features), adapterInfo: { subgroupMaxSize } };
  return parts as unknown as GPUDevice; // the rest is never asked for
}

describe('a choice of kernels', () => {
  it('is read as it was written', () => {
    const choice = { ...FIXED, matmul: 'wide', attention: 'workgroup' } as const;
    expect(writeChoice(choice)).toBe(
      'matvec=registers matmul=wide transpose=registers attention=workgroup prefill=registers',
    );
    expect(readChoice(writeChoice(choice))).toEqual(choice);
  });

  it('from before an op had variants has what ran then', () => {
    const text = 'matvec=subgroups matmul=wide transpose=registers attention=workgroup';
    expect(readChoice(text)).toEqual({
      matvec: 'subgroups',
      matmul: 'wide',
      transpose: 'registers',
      attention: 'workgroup',
      prefill: 'registers',
    });
  });

  it('is the same as an older text that names fewer ops', () => {
    const older = 'matvec=registers matmul=wide transpose=registers attention=registers';
    expect(sameKernels(older, writeChoice({ ...FIXED, matmul: 'wide' }))).toBe(true);
    expect(sameKernels(older, writeChoice({ ...FIXED, matmul: 'wide', prefill: 'wide' }))).toBe(
      false,
    );
    expect(sameKernels('one submit', 'one submit')).toBe(true);
    expect(sameKernels('one submit', older)).toBe(false);
  });

  it('is not read out of other texts', () => {
    for (const text of [
      '',
      'one submit, 8 lanes a row',
      'matvec=registers matmul',
      'matvec=registers=wide',
      'matvec=fast matmul=wide transpose=registers attention=registers',
      `${writeChoice(FIXED)} more=yes`,
    ]) {
      expect(readChoice(text), text).toBeNull();
    }
  });
});

describe('what an adapter is offered', () => {
  it('leaves subgroups out where it lacks them, or where one could outgrow a workgroup', () => {
    expect(offered(device([]), 'matvec')).toEqual(['registers', 'workgroup']);
    expect(offered(device(['subgroups'], 128), 'matvec')).toEqual(['registers', 'workgroup']);
    expect(offered(device(['subgroups']), 'matvec')).toEqual(VARIANTS.matvec);
    expect(runnable(device([]), { ...FIXED, matvec: 'subgroups' })).toBe(false);
  });

  it('leaves float16 out where it lacks it', () => {
    expect(offered(device([]), 'matmul')).toEqual(['registers', 'wide', 'workgroup']);
    expect(offered(device(['shader-f16']), 'matmul')).toEqual(VARIANTS.matmul);
    expect(runnable(device([]), { ...FIXED, matmul: 'halves' })).toBe(false);
  });

  it('is everything in the fixed choice', () => {
    expect(runnable(device([]), FIXED)).toBe(true);
  });
});
