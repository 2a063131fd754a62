/** Runs a program's own tests in the sandbox, and writes their results as an agent reads them. */

import type { Program } from './repair-program.ts';
import type { ProgramFiles, Sandbox, TestResult } from './repair-sandbox.ts';

/** The visible or the hidden tests, all or one of them. */
export function runTests(
  sandbox: Sandbox,
  program: Program,
  files: ProgramFiles,
  which: 'visible' | 'hidden',
  only: string | null = null,
): readonly TestResult[] {
  const { name, text, tests } = program[which];
  return sandbox.run({ ...files, [name]: text }, name, only === null ? tests : [only]);
}

/** How many pass, then a line a test; the first that fails says why. */
export function testReport(results: readonly TestResult[]): string {
  const failed = results.filter(({ passed }) => !passed);
  const lines = results.map((result) => {
    if (result.passed) return `ok   ${result.name}`;
    return `FAIL ${result.name}${result === failed[0] ? `: ${result.message}` : ''}`;
  });
  return [`${results.length - failed.length} of ${results.length} tests pass.`, ...lines].join(
    '\n',
  );
}
