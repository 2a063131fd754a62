import { describe, expect, test } from 'vitest';
import { openSandbox } from './repair-sandbox.ts';

const sandbox = await openSandbox();

/** What a test with this body says when it fails; null where it passes. */
function failure(body: string): string | null {
  const file = `import { equal, test, throws } from './check.js';\ntest('it', () => { ${body} });`;
  const [result] = sandbox.run({ 't.js': file }, 't.js', ['it']);
  return result?.passed ? null : (result?.message ?? 'no result');
}

const endless = 'stopped after 500,000 operations: does a loop never end?';

test('files import each other, and a test passes or says both values', () => {
  const files = {
    'two.js': 'export const two = () => 2;',
    't.js':
      "import { equal, test } from './check.js';\nimport { two } from './two.js';\ntest('a', () => equal(two(), 2));\ntest('b', () => equal([two(), { x: 'y' }], [3]));",
  };
  expect(sandbox.run(files, 't.js', ['a', 'b', 'c'])).toEqual([
    { name: 'a', passed: true, message: '' },
    { name: 'b', passed: false, message: 'expected [3], got [2, {x: "y"}]' },
    { name: 'c', passed: false, message: 'there is no such test' },
  ]);
});

test('a file that cannot be loaded fails every test', () => {
  const files = {
    'bad.js': 'export const x = (1;',
    't.js': "import { test } from './check.js';\nimport './bad.js';\ntest('a', () => {});",
  };
  const message = "SyntaxError: expecting ')'";
  expect(sandbox.run(files, 't.js', ['a', 'b']).map((result) => result.message)).toEqual([
    message,
    message,
  ]);
  expect(sandbox.run({ 't.js': "import './none.js';" }, 't.js', ['a'])[0]?.message).toMatch(
    /there is no file none\.js/,
  );
  expect(sandbox.run({ 't.js': 'for (;;);' }, 't.js', ['a'])[0]?.message).toBe(endless);
});

test('one test leaves nothing behind for the next', () => {
  const file = `import { equal, test } from './check.js';
let n = 0;
test('a', () => { n += 1; globalThis.m = 1; Array.prototype.map = null; equal(n, 1); });
test('b', () => { n += 1; equal([n, typeof m, [1].map((x) => x)], [1, 'undefined', [1]]); });`;
  expect(sandbox.run({ 't.js': file }, 't.js', ['a', 'b']).map(({ passed }) => passed)).toEqual([
    true,
    true,
  ]);
});

describe('ends, in the same words every time,', () => {
  test.each([
    ['an endless loop', 'for (;;);', endless],
    ['one that catches everything', 'for (;;) try { [1].concat([2]) } catch {}', endless],
    ['endless recursion', 'function f() { return f() + 1 } f()', 'InternalError: stack overflow'],
    ['a list that grows', 'const a = []; for (;;) a.push(a.length)', /out of memory/],
    ['a list that is copied', 'let a = []; for (;;) a = a.concat([1])', endless],
    ['a list that is spread', 'let a = []; for (;;) a = [...a, 1]', endless],
    ['a huge list', 'new Array(4294967295).fill(0)', endless],
    ['a huge sparse list', 'const a = []; a[4294967294] = 1; a.join()', endless],
    ['a huge list as JSON', 'JSON.stringify(new Array(4294967295))', endless],
    ['a huge text', '"x".repeat(2 ** 29)', endless],
    ['a text that doubles', 'let s = "x"; for (;;) s += s', 'InternalError: string too long'],
    ['a pattern that goes back and forth', '/^(a+)+$/.test("a".repeat(30) + "b")', endless],
    ['an object in itself', 'const o = { toString() { return "" + o } }; "" + o', /stack overflow/],
    ['what is thrown without an error', 'throw { a: 1 }', 'threw {a: 1}'],
  ])('%s', (_, body, message) => {
    const before = process.cpuUsage();
    const said = failure(body);
    const { user, system } = process.cpuUsage(before);
    expect(said).toMatch(message);
    expect(failure(body)).toBe(said);
    expect((user + system) / 1e6).toBeLessThan(1); // of this process; the cores are shared with others
  });
});

test('a program cannot make its tests pass by changing what they are made of', () => {
  const cheats = [
    'Object.is = () => true; Object.keys = () => []; Array.isArray = () => true;',
    'Map.prototype.get = () => () => {}; Reflect.apply = () => true;',
    'globalThis.check = { equal() {}, test() {} }; check.equal = () => {}; Object.hasOwn = () => true;',
    'Array.prototype.every = () => true; globalThis.Error = class {}; Error.prototype = {};',
  ];
  const test =
    "import { equal, test } from './check.js';\nimport './cheat.js';\ntest('a', () => equal([1], [2]));";
  for (const cheat of cheats) {
    const files = { 'cheat.js': `try { ${cheat} } catch {}`, 't.js': test };
    expect(sandbox.run(files, 't.js', ['a'])[0]?.passed, cheat).toBe(false);
  }
});

test('a file that no parser can read is reported, and the next sandbox works', async () => {
  const files = { 'deep.js': '('.repeat(19_000), 't.js': "import './deep.js';" };
  expect(sandbox.run(files, 't.js', ['a'])[0]?.message).toMatch(/stack overflow|Error/);
  const file = "import { equal, test } from './check.js';\ntest('a', () => equal(1, 1));";
  const again = await openSandbox();
  expect(again.run({ 't.js': file }, 't.js', ['a'])[0]?.passed).toBe(true);
});

test('there is neither clock nor chance, nor anything of the host', () => {
  const names = [
    'Date',
    'BigInt',
    'eval',
    'process',
    'fetch',
    'setTimeout',
    'WebAssembly',
    'console',
  ];
  expect(
    failure(
      `equal([${names.map((name) => `typeof ${name}`)}].join(), 'undefined,'.repeat(8).slice(0, -1))`,
    ),
  ).toBeNull();
  expect(failure('equal(typeof Math.random, "undefined")')).toBeNull();
  expect(failure('2n * 3n')).toMatch(/no BigInts/);
});

test('built-in functions do what they do elsewhere', () => {
  expect(
    failure(
      `equal([[3, 1, 2].sort(), [1, 2].map(String), [...'añ'], [...new Map([[1, 2]])], 'ab'.padStart(4, '-')],
       [[1, 2, 3], ['1', '2'], ['a', 'ñ'], [[1, 2]], '--ab']);
       equal([Array.from({ length: 2 }, (_, i) => i), JSON.stringify({ a: [1] }), Object.keys({ b: 1 })], [[0, 1], '{"a":[1]}', ['b']])`,
    ),
  ).toBeNull();
});
