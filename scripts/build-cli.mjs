// Bundles src/cli/attt.ts into dist-cli/attt.js, and what its threads run beside it; they need nothing but Node and node_modules.
// Does nothing when the bundle is newer than every source, and of the same commit.

import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone } from './alone.mjs';
import { commitOf } from './commit.mjs';
import { isCurrent } from './stale.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Loaded at run time from where they lie: one has a native part, the other starts a browser. */
const external = ['webgpu', '@playwright/test'];

const wasmFiles = [
  'tfjs-backend-wasm.wasm',
  'tfjs-backend-wasm-simd.wasm',
  'tfjs-backend-wasm-threaded-simd.wasm',
];

const sources = ['src', 'package.json', 'package-lock.json', 'scripts/build-cli.mjs'];
const built = ['attt.js', 'episodes.js', 'page/page.js', ...wasmFiles].map(
  (file) => `dist-cli/${file}`,
);

/** What every bundle of the engine for Node or a bare page begins with. tfjs's `main` is CommonJS, which has no gradients. */
export const common = {
  root,
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  resolve: { mainFields: ['module', 'main'] },
};

/** Builds where needed; says so on stderr, since stdout belongs to the command. */
export async function buildCli() {
  const commit = commitOf(root);
  const current = () => isCurrent(root, sources, built, 'dist-cli', commit);
  if (current()) return;
  // Shards that start together all find the old bundle: the first builds, the others wait for it.
  await alone(join(root, 'node_modules', '.attt-build'), async () => {
    if (!current()) await buildNow(commit);
  });
}

async function buildNow(commit) {
  const began = Date.now();
  const { build } = await import('vite');
  // Built aside and moved in one step: another `attt` may be starting from the old bundle.
  const aside = join(root, 'node_modules', `.attt-${process.pid}`);
  mkdirSync(aside, { recursive: true });
  try {
    await build({
      ...common,
      // The WASM backend's glue asks for the folder, as CommonJS modules may.
      define: { __dirname: 'import.meta.dirname', ATTT_COMMIT: JSON.stringify(commit) },
      build: {
        ssr: true,
        outDir: aside,
        target: 'node20',
        minify: false,
        rollupOptions: {
          external,
          // A thread runs the second. All lie beside the .wasm files, which are looked for beside the code.
          input: { attt: 'src/cli/attt.ts', episodes: 'src/cli/episodes.worker.ts' },
          output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
        },
      },
      ssr: { noExternal: true, external },
    });
    await build({
      ...common,
      define: { ATTT_COMMIT: JSON.stringify(commit) },
      base: './',
      build: {
        lib: { entry: 'src/cli/page.ts', formats: ['es'], fileName: () => 'page.js' },
        outDir: join(aside, 'page'),
        target: 'es2022',
        minify: false,
        assetsInlineLimit: 0,
      },
    });
    const { resolve } = createRequire(import.meta.url);
    for (const file of wasmFiles) {
      copyFileSync(resolve(`@tensorflow/tfjs-backend-wasm/dist/${file}`), join(aside, file));
    }
    writeFileSync(join(aside, 'commit.txt'), commit);
    const out = join(root, 'dist-cli');
    rmSync(out, { recursive: true, force: true });
    renameSync(aside, out);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  console.error(`Built dist-cli/attt.js in ${((Date.now() - began) / 1000).toFixed(1)} s.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCli();
