// Compiles src/model/simd/*.as.ts to the module that src/model/simd/module.ts carries as base64.
// The result is committed; `--check` exits 1 when it is not what the source gives.

import { readFileSync, writeFileSync } from 'node:fs';
import asc from 'assemblyscript/asc';

const source = 'src/model/simd/index.as.ts';
const target = 'src/model/simd/module.ts';

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
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') === text) process.exit(0);
  console.error(`${target} is not what ${source} gives. Run node scripts/build-simd.mjs.`);
  process.exit(1);
}
writeFileSync(target, text);
console.log(`${target}: ${files.get('module.wasm').length} bytes of WebAssembly.`);
