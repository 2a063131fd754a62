// Serves the built page on a free port and prints its address; builds it first where it is out of date.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';
import { commitOf } from './commit.mjs';
import { isCurrent } from './stale.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = ['index.html', 'src', 'public', 'models', 'vite.config.ts', 'package-lock.json'];

/** Builds dist/ unless it is newer than everything that it is made from, and of the same commit. */
export async function buildPage() {
  if (isCurrent(root, sources, ['dist/index.html'], 'dist', commitOf(root))) return;
  console.log('Building the page …');
  await build({ root, logLevel: 'error' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildPage();
  // The first free port from 4173 on; only this machine can reach it.
  const server = await preview({
    root,
    preview: { host: '127.0.0.1', port: Number(process.env.PORT ?? 4173) },
  });
  const address = server.resolvedUrls?.local[0] ?? 'http://127.0.0.1:4173/';
  console.log(`aTTT Lab: ${address}`);
  console.log('Stop with Ctrl+C.');
}
