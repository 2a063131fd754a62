import { createServer } from 'node:net';
import { defineConfig } from '@playwright/test';
import { browserPath, launchArgs } from './scripts/browser.mjs';

// The runner chooses the port; the workers, which load this file again, inherit its choice.
process.env.E2E_PORT ??= String(await freePort());
const port = process.env.E2E_PORT;
const executablePath = browserPath();
/** Cases at the edge of what pages are given wait for `npm run test:long`. */
const later = process.env.VITE_LONG ? [] : [/@long/];

export default defineConfig({
  testDir: 'e2e',
  // Two pages at once, since most of a test is waiting; those that measure time come after, one by one.
  fullyParallel: true,
  workers: 2,
  projects: [
    { name: 'page', grepInvert: [/@timed/, ...later] },
    { name: 'timed', grep: /@timed/, grepInvert: later, dependencies: ['page'], workers: 1 },
  ],
  timeout: 120_000,
  expect: { timeout: 15_000 },
  // Some tests measure time, and a machine's other work only ever adds to it.
  retries: 1,
  forbidOnly: Boolean(process.env.CI),
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    viewport: { width: 1280, height: 800 },
    launchOptions: { ...(executablePath ? { executablePath } : {}), args: launchArgs },
    // Fixed WebGPU kernels: a timing on a busy machine would choose otherwise from test to test.
    storageState: {
      cookies: [],
      origins: [
        {
          origin: `http://127.0.0.1:${port}`,
          localStorage: [{ name: 'attt-kernels', value: 'fixed' }],
        },
      ],
    },
    // Its own spec lets it in; elsewhere keeping all files would only take time.
    serviceWorkers: 'block',
    // Of a second try alone: a trace copies the document at each step, two fifths of the tests' time.
    trace: 'on-first-retry',
  },
  webServer: {
    command: 'node scripts/start.mjs',
    env: { PORT: port },
    url: `http://127.0.0.1:${port}`,
    reuseExistingServer: false,
    timeout: 120_000,
  },
});

/** A port that nothing listens on: a fixed one may be taken by a page that somebody looks at. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
