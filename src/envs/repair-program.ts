/** The programs that are to be repaired, read from the Markdown files that hold them. Knows no faults and no world. */

import type { ProgramFiles } from './repair-sandbox.ts';

/** A correct program with its tests. */
export interface Program {
  readonly name: string;
  /** What it does, in one sentence. */
  readonly about: string;
  /** The files that may be edited, in order. */
  readonly files: ProgramFiles;
  /** Seen by the agent, and never by it. */
  readonly visible: TestFile;
  readonly hidden: TestFile;
}

export interface TestFile {
  readonly name: string;
  readonly text: string;
  /** The tests in it, in order. */
  readonly tests: readonly string[];
}

const texts = import.meta.glob<string>('./repair-programs/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** By name. */
export const programs: ReadonlyMap<string, Program> = new Map(
  Object.values(texts)
    .flatMap(readPrograms)
    .map((program) => [program.name, program]),
);

/** Every `# name` with a sentence and blocks of code that name their files: sources, `.test.js`, `.hidden.js`. */
function readPrograms(markdown: string): readonly Program[] {
  const parts = markdown.split(/^# /m).slice(1);
  return parts.map((part) => {
    const [name = '', ...rest] = part.split('\n');
    const blocks = [...part.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)].map(
      ([, file = '', text = '']) => [file, text] as const,
    );
    const isTest = (file: string) => /\.(test|hidden)\.js$/.test(file);
    const testFile = (kind: string): TestFile => {
      const [file = '', text = ''] = blocks.find(([each]) => each.endsWith(`.${kind}.js`)) ?? [];
      const tests = [...text.matchAll(/^test\('(.+?)', /gm)].map(([, test = '']) => test);
      return { name: file, text, tests };
    };
    return {
      name: name.trim(),
      about: rest.find((line) => line.trim() !== '') ?? '',
      files: Object.fromEntries(blocks.filter(([file]) => !isTest(file))),
      visible: testFile('test'),
      hidden: testFile('hidden'),
    };
  });
}
