/** Does a job in a headless Chromium that this process starts, feeds over localhost, and ends. */

import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { fromWire, LabError } from '../errors.ts';
import type { Json } from '../records.ts';
import type { FileSource } from './files.ts';
import type { Job } from './jobs.ts';
import type { kernelWishes } from './kernels.ts';
import type { Machine, PortableFile } from './machine.ts';
import type { PageResult } from './page.ts';

/** Hardware first; without a GPU Chromium's own software adapter, which is slow but exact. */
const adapterFlags = [['--enable-unsafe-webgpu', '--enable-features=Vulkan'], null] as const;

/**
 * Throws `no_adapter` when there is no browser, or when it has no WebGPU adapter; the message names
 * the step that failed.
 */
export async function runInChromium(
  job: Job,
  source: FileSource,
  kernels: ReturnType<typeof kernelWishes>,
  { note, emit, keep }: Pick<Machine, 'note' | 'emit' | 'keep'>,
): Promise<Json> {
  const { browserPath, launchArgs } = await import('../../scripts/browser.mjs');
  const { chromium } = await import('@playwright/test');
  const executablePath = browserPath();
  if (executablePath === undefined) throw noBrowser('there is no Chrome or Chromium to drive');
  const server = await serve(source);
  try {
    for (const flags of adapterFlags) {
      const args = flags === null ? launchArgs : ['--no-sandbox', ...flags];
      const browser = await chromium.launch({ executablePath, args }).catch((thrown: Error) => {
        throw noBrowser(`${executablePath} did not start: ${thrown.message.split('\n')[0]}`);
      });
      try {
        const page = await browser.newPage();
        page.on('pageerror', (error) => note(`browser: ${error.message}`));
        await page.exposeFunction('atttNote', note);
        await page.exposeFunction('atttEmit', (line: string) => emit(JSON.parse(line)));
        await page.exposeFunction('atttKeep', (file: PortableFile) => keep(file));
        await page.exposeFunction('atttRecall', kernels.memory.recall);
        await page.exposeFunction('atttRemember', kernels.memory.keep);
        await page.goto(addressOf(server));
        const found = await page.evaluate(
          async () => (await navigator.gpu?.requestAdapter()) != null,
        );
        if (!found && flags !== null) continue; // without a GPU: try the software adapter
        await page.waitForFunction(() => 'atttJob' in window);
        // As text both ways: what crosses is JSON, and its recursive type is too deep to infer.
        const text = await page.evaluate(
          async ([asked, names, wish]) =>
            JSON.stringify(await window.atttJob(JSON.parse(asked), names, wish)),
          [JSON.stringify(job), source.paths.map((path) => basename(path)), kernels.asked] as const,
        );
        const result = JSON.parse(text) as PageResult; // our own page made it
        if (result.ok) return result.value;
        throw fromWire(result.error);
      } finally {
        await browser.close();
      }
    }
    throw new LabError('internal', 'Chromium was asked for no adapter.');
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function noBrowser(why: string): LabError {
  return new LabError(
    'no_adapter',
    `WebGPU is not available: the "webgpu" package found no adapter, and step "browser" failed (${why}). Install Chrome or Chromium, name it in CHROME_PATH, or use --backend wasm.`,
    { step: 'browser' },
  );
}

/** Serves the page's bundle and the model file on a free port of this machine only. */
async function serve(source: FileSource): Promise<Server> {
  const folder = join(import.meta.dirname, 'page');
  const server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://localhost').pathname;
    if (path === '/') {
      response.setHeader('content-type', 'text/html');
      response.end(
        '<!doctype html><title>attt</title><script type="module" src="./page.js"></script>',
      );
    } else if (path.startsWith('/model/')) {
      const file = source.paths[Number(path.slice('/model/'.length))] ?? '';
      response.setHeader('content-length', (await stat(file)).size);
      createReadStream(file).pipe(response);
    } else await sendScript(join(folder, path), response); // URL resolved any ".." already
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function sendScript(path: string, response: ServerResponse): Promise<void> {
  try {
    const bytes = await readFile(path);
    response.setHeader('content-type', 'text/javascript');
    response.end(bytes);
  } catch {
    response.statusCode = 404;
    response.end();
  }
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address !== null && typeof address === 'object') return `http://127.0.0.1:${address.port}/`;
  throw new LabError('internal', 'The local server has no port.');
}
