/** A repair as a person reads it: what has changed, and which tests pass now, hidden ones too. */

import type { ProgramSketch, ProgramTest } from '../records.ts';
import { unifiedDiff } from './repair-edit.ts';
import type { Program } from './repair-program.ts';
import type { ProgramFiles, Sandbox } from './repair-sandbox.ts';
import { type RepairState, repairHash } from './repair-state.ts';
import { runTests } from './repair-tests.ts';

export function sketchRepair(
  sandbox: Sandbox,
  program: Program,
  state: RepairState,
  before: RepairState | null,
): ProgramSketch {
  return {
    kind: 'program',
    stateHash: repairHash(state),
    change: before === null ? '' : unifiedDiff(before.files, state.files),
    patch: unifiedDiff(state.start, state.files),
    tests: testsOf(sandbox, program, state.files),
    outcome: state.outcome,
  };
}

/** Results follow from the files, and most steps leave those alone; runs are sketched again as they grow. */
const known = new Map<string, readonly ProgramTest[]>();
const KNOWN_LIMIT = 500;

function testsOf(sandbox: Sandbox, program: Program, files: ProgramFiles): readonly ProgramTest[] {
  const key = JSON.stringify([program.name, Object.values(files)]);
  let tests = known.get(key);
  if (tests === undefined) {
    tests = (['visible', 'hidden'] as const).flatMap((which) =>
      runTests(sandbox, program, files, which).map((result) => ({
        ...result,
        hidden: which === 'hidden',
      })),
    );
    if (known.size >= KNOWN_LIMIT) known.clear();
    known.set(key, tests);
  }
  return tests;
}
