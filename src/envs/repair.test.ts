import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRepair } from './repair.ts';
import { REPAIR_ID } from './repair-description.ts';
import type { RepairState } from './repair-state.ts';

const repair = await openRepair();
/** A fault in one line of lru.js: the oldest entry is dropped one put too late. */
const fault = '    if (this.entries.size > this.capacity + 1) {';
const begun = repair.initial({ env: REPAIR_ID, split: 'train', index: 0 });
const lru = 'lru.js';

/** The answers to commands one after the other, from a cache that forgets too late. */
function answers(...commands: readonly string[]) {
  const { program } = begun.state;
  expect(program).toBe('lru-cache');
  const files = { [lru]: correct.replace('    if (this.entries.size > this.capacity) {', fault) };
  let state: RepairState = { ...begun.state, start: files, files, open: lru };
  return commands.map((command) => {
    const after = repair.step(state, command);
    ({ state } = after);
    return { ...after, text: after.observation };
  });
}
const correct = ((): string => {
  const markdown = readFileSync('src/envs/repair-programs/collections.md', 'utf8');
  return /```js lru\.js\n([\s\S]*?)```/.exec(markdown)?.[1] ?? '';
})();
const line = fault.trim();
const fix = 'replace 28 with if (this.entries.size > this.capacity) {';

test('the first observation names files, tests, commands and the goal', () => {
  const { observation } = begun;
  expect(observation).toMatch(/^lru-cache: A cache that forgets/m);
  expect(observation).toMatch(/lru\.js \(38 lines\), lru\.test\.js \(\d+ lines, read only\)/);
  expect(observation).toMatch(/^\d of 4 tests pass\.$/m);
  expect(observation).toMatch(/^- replace 12 with CODE/m);
  expect(observation).toMatch(
    /Your task is to: repair the program lru-cache so that all its tests pass, then submit\.$/,
  );
});

test('files are listed, viewed in part, and searched', () => {
  const [list, view, part, wrong, found] = answers(
    ...['list files', 'view lru.js', 'view lru.test.js 1-2', 'view none.js', 'search CAPACITY'],
  );
  expect(list?.text.split('\n')).toEqual([
    'lru.js (38 lines)',
    'lru.test.js (34 lines, read only)',
  ]);
  expect(view?.text).toContain(` 28: ${fault}`);
  expect(part?.text).toBe(
    "lru.test.js, lines 1 to 2 of 34:\n  1: import { equal, test } from './check.js';\n  2: import { LruCache } from './lru.js';",
  );
  expect(wrong?.info.refused).toBe(true);
  expect(found?.text).toContain(`lru.js: 28: ${fault}`);
});

test('an edit answers with its diff, can be undone, and the tests notice it', () => {
  const [failing, edited, passing, undone, again] = answers(
    ...['run tests', fix, 'run tests', 'undo', 'run test forgets the oldest entry'],
  );
  expect(failing?.text).toBe(
    '2 of 4 tests pass.\nok   gives back what was put in\nFAIL forgets the oldest entry: expected null, got "aa"\nFAIL a use makes an entry young again\nok   counts its hits',
  );
  expect([failing, edited, passing, undone, again].map((after) => after?.info.failed)).toEqual([
    ...[true, undefined, undefined, undefined, true],
  ]);
  expect(edited?.text).toContain(`-${fault}\n+    if (this.entries.size > this.capacity) {`);
  expect(passing?.text).toMatch(/^4 of 4 tests pass\./);
  expect(undone?.text).toContain(`+${fault}`);
  expect(again?.text).toBe(
    '0 of 1 tests pass.\nFAIL forgets the oldest entry: expected null, got "aa"',
  );
});

test('handing in a repair solves the task, anything else fails it', () => {
  expect(answers(fix, 'submit').at(-1)).toMatchObject({
    reward: 1,
    terminated: true,
    info: { won: true, lost: false, score: 1 },
  });
  expect(answers('submit')[0]).toMatchObject({
    reward: 0,
    terminated: true,
    info: { won: false, lost: true },
    observation: 'Handed in. 2 of 4 tests and 2 of 2 hidden tests fail.',
  });
  // Right for the capacities of the tests that can be read, two and three.
  expect(answers('replace 28 with if (this.entries.size > 2) {', 'submit')[1]).toMatchObject({
    reward: 0,
    info: { won: false },
    observation: 'Handed in. 0 of 4 tests and 1 of 2 hidden tests fail.',
  });
  expect(answers('submit', fix)[1]).toMatchObject({
    reward: 0,
    observation: 'The work is handed in.',
  });
});

test('code that never ends fails its tests and nothing else', () => {
  const [, result] = answers('replace 13 with   get(key) { for (;;);', 'run tests');
  expect(result?.text).toMatch(/^0 of 4 tests pass\./);
  const [, loop] = answers('insert 13 for (;;);', 'run test 1');
  expect(loop?.text).toContain('stopped after 500,000 operations');
});

test('what cannot be done is said, and changes nothing', () => {
  for (const command of [
    ...[
      'xyzzy',
      'view lru.js 90',
      'replace 90 with x',
      'delete lru.test.js:1',
      'undo',
      'run test 9',
    ],
    ...['replace 3', 'insert 39 x', `replace 28 with ${'x'.repeat(20_001)}`],
  ]) {
    const [after] = answers(command);
    expect(after?.info.refused, command).toBe(true);
    expect(after?.state.files).toEqual({ [lru]: correct.replace(/.*size > this.*/, fault) });
  }
  expect(answers(`replace 28 with ${line}`)[0]?.text).toMatch(/as it was/);
});

test('any commands leave a state that can be taken up again, and equal states hash equally', () => {
  const command = fc.oneof(
    fc.constantFrom('undo', 'run test 1', 'list files', 'view lru.js', 'help', 'search x', ''),
    fc
      .tuple(fc.constantFrom('replace', 'insert', 'delete'), fc.nat(45), fc.string())
      .map(([verb, n, code]) => `${verb} ${n}${verb === 'delete' ? '' : ` ${code}`}`),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 6 }), (commands) => {
      let { state } = begun;
      for (const action of commands) {
        const text = JSON.stringify(state);
        const after = repair.step(state, action);
        expect(JSON.stringify(state)).toBe(text);
        const again = repair.step(JSON.parse(text), action);
        expect(again).toEqual(after);
        const same = JSON.stringify(after.state) === text;
        expect(after.info.stateHash === repair.step(state, 'xyzzy').info.stateHash).toBe(same);
        ({ state } = after);
      }
    }),
    { numRuns: 40, seed: 1 },
  );
});

test('git applies the patch of a run to the program as it was', () => {
  const { state } = repair.step(begun.state, 'replace 2 with   constructor(capacity, extra) {');
  const end = repair.step(state, 'insert 38 // the end\n').state;
  const patch = repair.patch?.(end) ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'repair-'));
  try {
    writeFileSync(join(folder, lru), begun.state.files[lru] ?? '');
    execFileSync('git', ['apply', '-'], { cwd: folder, input: patch });
    expect(readFileSync(join(folder, lru), 'utf8')).toBe(end.files[lru]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
