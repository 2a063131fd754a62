/** Tests over sources into which one fault is planted while they load; see plant.mjs. */

import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

const fault = JSON.parse(process.env.PLANTED_FAULT ?? 'null');
const target = resolve(fault.file);

export default defineConfig({
  resolve: { mainFields: ['module', 'main'] },
  plugins: [
    {
      name: 'planted-fault',
      enforce: 'pre',
      transform: (code, id) =>
        id.split('?')[0] === target ? code.replace(fault.find, () => fault.put) : null,
    },
  ],
  test: {
    environment: 'node',
    server: { deps: { inline: [/@tensorflow/, /@huggingface/] } },
    testTimeout: 20_000,
  },
});
