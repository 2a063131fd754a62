// `npm run verify:python`: other programs read what this one wrote, and must come to the same numbers.
// Makes a virtual environment of pinned packages in .cache/verify (kept until a pin changes), runs every scripts/verify/check_*.py (each prints {"title", "about", "rows": [{"what", "found",
// "limit", "ok"}]} as its last line), and writes docs/reports/<day>-verification.md. What cannot stand
// beside the rest has an environment of its own (requirements_<check>.txt, .cache/verify-<check>). No
// part of `npm test`: the packages take some gigabytes. Exit code 1 when a check fails. Names of checks run these
// alone, as in `npm run verify:python adapter`; then no report is written.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commitOf } from './commit.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'scripts', 'verify');
const asked = process.argv.slice(2);
const names = readdirSync(folder)
  .flatMap((file) => /^check_(\w+)\.py$/.exec(file)?.[1] ?? [])
  .filter((name) => asked.length === 0 || asked.includes(name))
  .sort();

/** Runs a program on this terminal; ends this one where it fails. */
function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status === 0 && !error) return;
  console.error(`${program} ${args.join(' ')} ended with ${error?.message ?? status}.`);
  process.exit(1);
}

/** The Python of an environment that holds what a file of pins names; made where exactly that is not there. */
function environment(name, file) {
  const venv = join(root, '.cache', name);
  const python = join(venv, 'bin', 'python');
  const pins = join(folder, file);
  const hash = createHash('sha256').update(readFileSync(pins)).digest('hex');
  const mark = join(venv, 'pins.sha256');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return python;
  if (!existsSync(python)) run('python3', ['-m', 'venv', venv]);
  run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-r', pins]);
  writeFileSync(mark, hash);
  return python;
}

const python = environment('verify', 'requirements.txt');
for (const name of names) {
  const own = `requirements_${name}.txt`;
  if (existsSync(join(folder, own))) environment(`verify-${name}`, own);
}
run(process.execPath, [join(root, 'scripts', 'fetch-models.mjs'), 'smollm2']);
run(process.execPath, [join(root, 'scripts', 'build-cli.mjs')]);

/** Runs one check; what it says as its last line, or no rows where it ended otherwise. */
async function check(name) {
  const file = join(folder, `check_${name}.py`);
  const child = spawn(python, [file], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let stdout = '';
  for await (const part of child.stdout) stdout += part;
  const [status] = await closed;
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (status !== 0) return { name, title: name, about: `It ended with ${status}.`, rows: [] };
  return { name, ...JSON.parse(last) };
}

// All at once: each has one busy program at a time.
const checks = await Promise.all(names.map(check));
for (const { name, rows } of checks) {
  console.log(`\n=== ${name}`);
  for (const { what, found, limit, ok } of rows) {
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}: ${found} (${limit})`);
  }
}
const failed = checks.filter(({ rows }) => rows.length === 0 || rows.some(({ ok }) => !ok));
const day = new Date().toISOString().slice(0, 10);
if (asked.length === 0) {
  const file = join(root, 'docs', 'reports', `${day}-verification.md`);
  writeFileSync(file, report());
  run(join(root, 'node_modules', '.bin', 'biome'), ['check', '--write', file]);
}
console.log(`\n${checks.length - failed.length} checks passed, ${failed.length} failed`);
process.exit(failed.length > 0 || checks.length === 0 ? 1 : 0);

function report() {
  const packages = readdirSync(folder)
    .filter((file) => /^requirements\w*\.txt$/.test(file))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'))
    .join(', ');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const program = [version, commitOf(root)].filter((part) => part !== '').join('+');
  const parts = checks.map(({ title, about, rows }) => {
    const lines = rows.map(
      ({ what, found, limit, ok }) =>
        `| ${what} | ${found} | ${limit} | ${ok ? 'yes' : '**no**'} |`,
    );
    return `## ${title}\n\n${about}\n\n| what | found | limit | holds |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
  });
  return `# What other programs make of our files, ${day}

Written by \`npm run verify:python\`: aTTT Lab ${program}, Node ${process.versions.node}, ${cpus()[0]?.model.trim() ?? 'an unknown CPU'}; ${packages}.

${parts.join('\n')}`;
}
