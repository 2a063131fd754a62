import { defineConfig } from '@playwright/test';
import { browserPath, launchArgs } from './scripts/browser.mjs';

const port = 4199;
const executablePath = browserPath();

export default defineConfig({
  testDir: 'e2e',
  // One GPU emulated on two cores: two pages at once would only slow each other down.
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.CI),
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    viewport: { width: 1280, height: 800 },
    launchOptions: { ...(executablePath ? { executablePath } : {}), args: launchArgs },
    trace: 'retain-on-failure',
  },
  webServer: {
    command: 'node scripts/start.mjs',
    env: { PORT: String(port) },
    url: `http://127.0.0.1:${port}`,
    reuseExistingServer: false,
    timeout: 120_000,
  },
});
