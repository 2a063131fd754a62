import { expect, test } from 'vitest';
import { programs } from './repair-program.ts';
import { openSandbox } from './repair-sandbox.ts';

const sandbox = await openSandbox();

test.each([...programs.values()].map((program) => [program.name, program] as const))(
  '%s passes its tests',
  (_, { files, visible, hidden }) => {
    for (const { name, text, tests } of [visible, hidden]) {
      const failed = sandbox
        .run({ ...files, [name]: text }, name, tests)
        .filter(({ passed }) => !passed);
      expect(failed).toEqual([]);
    }
    expect(visible.tests.length).toBeGreaterThan(3);
    expect(hidden.tests.length).toBeGreaterThan(1);
  },
);
