import { expect, test } from 'vitest';
import { readRepairCommand } from './repair-command.ts';

const place = (from: number, to = from, file: string | null = null) => ({ file, from, to });

test.each([
  ['help', { verb: 'help' }],
  ['  List Files ', { verb: 'list' }],
  ['view a.js', { verb: 'view', file: 'a.js', from: 1, to: Number.MAX_SAFE_INTEGER }],
  ['view a.js 10-30', { verb: 'view', file: 'a.js', from: 10, to: 30 }],
  ['open a.test.js lines 3 to 5', { verb: 'view', file: 'a.test.js', from: 3, to: 5 }],
  ['search "Foo bar"', { verb: 'search', text: 'Foo bar' }],
  ['run tests', { verb: 'run', name: null }],
  ['Run test adds two', { verb: 'run', name: 'adds two' }],
  ['undo', { verb: 'undo' }],
  ['submit', { verb: 'submit' }],
  ['replace 12 with return A + b;', { verb: 'replace', place: place(12), code: 'return A + b;' }],
  ['replace line 12 with   x', { verb: 'replace', place: place(12), code: '  x' }],
  ['Replace a.js:3-5 with x', { verb: 'replace', place: place(3, 5, 'a.js'), code: 'x' }],
  ['replace lines 3 to 5: `y;`', { verb: 'replace', place: place(3, 5), code: 'y;' }],
  ['insert after line 0: // top', { verb: 'insert', place: place(0), code: '// top' }],
  [
    'insert a.js:7 x = `y` + `z`;',
    { verb: 'insert', place: place(7, 7, 'a.js'), code: 'x = `y` + `z`;' },
  ],
  ['delete 4-6', { verb: 'delete', place: place(4, 6) }],
  [
    'replace 2 with\n```js\n  a;\n\n  b;\n```',
    { verb: 'replace', place: place(2), code: '  a;\n\n  b;' },
  ],
  ['replace 2 with\n  a;\n  b;', { verb: 'replace', place: place(2), code: '  a;\n  b;' }],
])('%j is read', (text, command) => {
  expect(readRepairCommand(text)).toEqual(command);
});

test.each([
  '',
  'xyzzy',
  'view',
  'replace 3',
  'replace 3 with',
  'insert 3',
  'delete',
  'delete 3 x',
  'search',
])('%j is no command', (text) => {
  expect(readRepairCommand(text)).toBeNull();
});
