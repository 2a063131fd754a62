// Bundles one TypeScript script with Vite into .cache/ and runs it: node scripts/policy/run.mjs <script.ts> [flags].

import { mkdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

const [script, ...flags] = process.argv.slice(2);
if (script === undefined) {
  console.error('Usage: node scripts/policy/run.mjs <script.ts> [flags]');
  process.exit(2);
}
const name = basename(script, '.ts');
// one folder a process, so that two runs never read each other's bundle
const outDir = resolve('.cache/bundles', `${name}-${process.pid}`);
mkdirSync(outDir, { recursive: true });
await build({
  configFile: false,
  logLevel: 'error',
  build: {
    ssr: resolve(script),
    outDir,
    target: 'node20',
    minify: false,
    rollupOptions: { output: { entryFileNames: `${name}.mjs` } },
  },
});
process.argv = [process.argv[0] ?? 'node', script, ...flags];
await import(pathToFileURL(resolve(outDir, `${name}.mjs`)).href);
