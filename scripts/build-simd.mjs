// Compiles src/model/simd/*.as.ts to the module that src/model/simd/module.ts carries as base64, and writes
// what would only repeat the kernels' arguments: exports.ts and team.as.ts. The results are committed;
// `--check` exits 1 when one is not what the source gives.

import { readFileSync, writeFileSync } from 'node:fs';
import asc from 'assemblyscript/asc';
import { exportsText, signaturesOf, teamText } from './simd-signatures.mjs';

const folder = 'src/model/simd/';
const source = `${folder}index.as.ts`;
const checks = process.argv.includes('--check');

const read = (name) => readFileSync(folder + name, 'utf8');

function settle(name, text) {
  if (!checks) return writeFileSync(folder + name, text);
  if (read(name) === text) return;
  console.error(`${folder}${name} is not what ${source} gives. Run node scripts/build-simd.mjs.`);
  process.exit(1);
}

const signatures = signaturesOf(read('index.as.ts'), read);
settle('exports.ts', exportsText(signatures));
settle('team.as.ts', teamText(signatures));

const files = new Map();
const { error, stderr } = await asc.main(
  [
    source,
    '--outFile',
    'module.wasm',
    '-O3',
    '--converge',
    '--noAssert',
    '--runtime',
    'stub',
    '--importMemory',
    '--initialMemory',
    '1',
    '--maximumMemory',
    '65536', // tfjs's own; a memory that threads share must name one
    '--enable',
    'simd',
    '--use',
    'abort=',
  ],
  { writeFile: (name, contents) => void files.set(name, contents) },
);
if (error) {
  console.error(stderr.toString());
  process.exit(1);
}
const base64 = Buffer.from(files.get('module.wasm')).toString('base64');
const text = `/** Made by scripts/build-simd.mjs from *.as.ts; do not edit. */
export const SIMD_MODULE =
  '${base64}';
`;
settle('module.ts', text);
if (!checks) console.log(`${folder}: ${files.get('module.wasm').length} bytes of WebAssembly.`);
