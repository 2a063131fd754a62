import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Made by commands, never committed. */
const made = ['node_modules', 'dist', 'dist-cli', 'test-results', 'playwright-report'];

/**
 * The paths of README's tree: the code block in which a line `src/` stands. Two blanks of indent a
 * level, a folder ends in a slash, words after two blanks say what it is.
 */
function treeOf(readme: string): string[] {
  const block = readme.split(/^```.*$/m).find((part) => /^src\/(\s|$)/m.test(part)) ?? '';
  const folders: string[] = [];
  return block
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, indent = '', name = ''] = /^( *)(\S+)/.exec(line) ?? [];
      folders.length = indent.length / 2;
      const path = folders.join('') + name;
      if (name.endsWith('/')) folders.push(name);
      return path;
    });
}

const tree = existsSync('README.md') ? treeOf(readFileSync('README.md', 'utf8')) : [];

/** Tests stand beside their source, styles beside their panel: neither has a line of its own. */
const unlisted = /\.test\.tsx?$|\.css$/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = `${folder}${name}`;
    if (statSync(path).isDirectory()) return [`${path}/`, ...filesBelow(`${path}/`)];
    return unlisted.test(name) ? [] : [path];
  });
}

test("README's tree has a line for every file and folder of src", () => {
  const missing = filesBelow('src/').filter((path) => !tree.includes(path));
  expect(missing).toEqual([]);
});

test("README's tree has a line for every folder at the root", () => {
  const folders = readdirSync('.').filter(
    (name) => !name.startsWith('.') && !made.includes(name) && statSync(name).isDirectory(),
  );
  expect(folders.filter((name) => !tree.includes(`${name}/`))).toEqual([]);
});

test("everything in README's tree is there, once", () => {
  expect(tree.filter((path) => !existsSync(path))).toEqual([]);
  expect(tree).toHaveLength(new Set(tree).size);
});
