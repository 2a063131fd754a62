import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import { type Plugin, type Rolldown, runnerImport } from 'vite';
import { defineConfig } from 'vitest/config';
import { browserPath, launchArgs } from './scripts/browser.mjs';
import { commitOf } from './scripts/commit.mjs';

// tfjs-core's CommonJS build, which Node would resolve, has no gradients: tests bundle the ESM build.
const deps = { inline: [/@tensorflow/, /@huggingface/] };

const executablePath = browserPath();

/** The bundled models beside the page, under the paths that the dev server gives them as well. */
const bundledModels: Plugin = {
  name: 'bundled-models',
  apply: 'build',
  writeBundle: ({ dir }) => {
    if (!dir || !existsSync('models')) return;
    cpSync('models', `${dir}/models`, {
      recursive: true,
      filter: (path) => !/\.\w+$/.test(path) || path.endsWith('.gguf'),
    });
  },
};

const commit = commitOf(import.meta.dirname);

const define = { ATTT_COMMIT: JSON.stringify(commit) };

/** Beside the page, so that a build can be told from one of another commit. */
const commitFile: Plugin = {
  name: 'commit-file',
  apply: 'build',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'commit.txt', source: commit });
  },
};

/** Files that the page needs when it is opened without a network: all but models that nothing offers. */
const offline: Plugin = {
  name: 'offline',
  apply: 'build',
  writeBundle: {
    order: 'post',
    sequential: true,
    handler: ({ dir }) => {
      const script = `${dir}/offline.js`;
      if (!dir || !existsSync(script)) return;
      const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
        .map((file) => file.replaceAll('\\', '/'))
        .filter((file) => statSync(`${dir}/${file}`).isFile())
        .filter((file) => file !== 'offline.js' && !file.endsWith('-q4_0.gguf'))
        .sort();
      const hash = createHash('sha256');
      for (const file of files) hash.update(file).update(readFileSync(`${dir}/${file}`));
      const version = hash.digest('hex').slice(0, 12);
      const names = `const PAGE_FILES=${JSON.stringify(files)},PAGE_VERSION='${version}';\n`;
      writeFileSync(script, names + readFileSync(script, 'utf8'));
    },
  },
};

/** Where only markup is wanted, style sheets are nothing. */
const withoutStyles: Plugin = {
  name: 'without-styles',
  enforce: 'pre',
  resolveId: (id) => (id.endsWith('.css') ? '\0style' : null),
  load: (id) => (id === '\0style' ? '' : null),
};

/** The page as it is before its script has come: it is seen while that is fetched. */
const firstSight: Plugin = {
  name: 'first-sight',
  apply: 'build',
  transformIndexHtml: async (html) => {
    const { module } = await runnerImport<{ readonly firstSight: string }>(
      '/src/ui/first-sight.tsx',
      { root: import.meta.dirname, plugins: [withoutStyles], define },
    );
    return html.replace('<div id="root">', () => `<div id="root" inert>${module.firstSight}`);
  },
};

/** Links for a module that the page imports later, and for what it imports: they come together with the first. */
function preloads(bundle: Rolldown.OutputBundle, module: string, html: string): string {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}`));
  if (!chunk) throw new Error(`${module} is no chunk of this build`);
  return [chunk.fileName, ...chunk.imports]
    .filter((file) => !html.includes(file))
    .map((file) => `<link rel="modulepreload" crossorigin href="./${file}">\n`)
    .join('');
}

/** Styles stand in the page itself and scripts wait for it, so that nothing is fetched before it is first drawn. */
const paintsFirst: Plugin = {
  name: 'paints-first',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle = {} }) =>
      html
        .replace(/<link rel="stylesheet"[^>]* href="\.\/([^"]+)">/g, (_, file: string) => {
          const sheet = bundle[file];
          if (sheet?.type !== 'asset') throw new Error(`${file} is no style sheet of this build`);
          delete bundle[file]; // nothing asks for it any more
          return `<style>${sheet.source}</style>`;
        })
        .replace('</head>', `${preloads(bundle, 'src/ui/draw.tsx', html)}</head>`)
        .replace(/<(script type="module"|link rel="modulepreload") /g, '$&fetchpriority="low" '),
  },
};

/** Threads share memory only in a page that is isolated from others by these. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  server: { headers },
  preview: { headers },
  plugins: [react(), bundledModels, commitFile, offline, firstSight, paintsFirst],
  define,
  base: './',
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    chunkSizeWarningLimit: 1500,
    cssCodeSplit: false, // all of it is 10 kB, which stands in the page
    rolldownOptions: {
      // A service worker governs the folder that it lies in, under a name that never changes.
      input: { page: 'index.html', offline: 'src/workers/offline.worker.ts' },
      output: {
        entryFileNames: ({ name }) =>
          name === 'offline' ? 'offline.js' : 'assets/[name]-[hash].js',
      },
    },
  },
  // Named here, since Vite would otherwise find them in mid-test and reload the page under it.
  optimizeDeps: {
    include: [
      '@tensorflow/tfjs-core',
      '@tensorflow/tfjs-core/dist/register_all_gradients',
      '@tensorflow/tfjs-backend-cpu',
      '@tensorflow/tfjs-backend-wasm',
      '@tensorflow/tfjs-backend-webgpu',
      ...(process.env.VITEST ? ['@wllama/wllama/esm/index.js'] : []), // only tests use it
    ],
  },
  resolve: { mainFields: ['module', 'main'] },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          environment: 'node',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [
            '**/*.gpu.test.ts',
            '**/*.smollm2.test.ts',
            '**/*.policy.test.ts',
            '**/*.long.test.ts',
          ],
          server: { deps },
          // Vitest's own choice leaves one core to itself: of two, half.
          maxWorkers: '100%',
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'smollm2',
          environment: 'node',
          include: ['src/**/*.smollm2.test.ts', 'src/**/*.policy.test.ts'],
          server: { deps },
          testTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          environment: 'node',
          include: ['src/**/*.long.test.ts', 'scripts/**/*.long.test.ts'],
          server: { deps },
          testTimeout: 1_200_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'gpu',
          include: ['src/**/*.gpu.test.ts'],
          testTimeout: 120_000,
          // While one page's kernels compile, which takes one core, the other's compute.
          maxWorkers: 2,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { ...(executablePath ? { executablePath } : {}), args: launchArgs },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
});
