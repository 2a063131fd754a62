// Which commit of the program is built, so that what two commits wrote can be told apart.

import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';

/** What the program is made of; a commit that leaves it alone is the same program. */
const program = ['src', 'package.json', 'package-lock.json'];

/**
 * The last commit that changed the program, such as `g0d6b9c0a1`, with `.dirty` where files differ from
 * it; empty outside a repository of its own, as in an unpacked archive.
 */
export function commitOf(root) {
  const git = (...args) => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : '';
  };
  const top = git('rev-parse', '--show-toplevel');
  if (top === '' || realpathSync(top) !== realpathSync(root)) return '';
  const hash = git('log', '-1', '--format=%h', '--abbrev=9', '--', ...program);
  if (hash === '') return '';
  return `g${hash}${git('status', '--porcelain', '--', ...program) === '' ? '' : '.dirty'}`;
}
