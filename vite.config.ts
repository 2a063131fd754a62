import { cpSync, existsSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { browserPath, launchArgs } from './scripts/browser.mjs';

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

export default defineConfig({
  plugins: [react(), bundledModels],
  base: './',
  worker: { format: 'es' },
  build: { target: 'es2022', chunkSizeWarningLimit: 1500 },
  // Named here, since Vite would otherwise find them in mid-test and reload the page under it.
  optimizeDeps: {
    include: [
      '@tensorflow/tfjs-core',
      '@tensorflow/tfjs-core/dist/register_all_gradients',
      '@tensorflow/tfjs-backend-cpu',
      '@tensorflow/tfjs-backend-wasm',
      '@tensorflow/tfjs-backend-webgpu',
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
          fileParallelism: false,
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
