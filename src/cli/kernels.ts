/** Which WebGPU kernels the commands use, and the file in which measured choices are kept. */

import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KernelWishes, VariantMemory } from '../model/choose-variants.ts';
import { makeFolder } from './folders.ts';
import { note } from './output.ts';

/** As `ATTT_KERNELS` says: `measure` (unless set), `fixed`, or a choice as a run's manifest has it. */
export function kernelWishes(): KernelWishes & { readonly memory: VariantMemory } {
  return { asked: process.env.ATTT_KERNELS || 'measure', memory };
}

const path = () =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'attt-lab', 'kernels.json');

/** One JSON object, adapter to choice. A file that cannot be read or written costs a timing, never a command. */
const memory: VariantMemory = {
  recall: async (adapter) => (await all())[adapter],
  async keep(adapter, choice) {
    const choices = { ...(await all()), [adapter]: choice };
    try {
      await makeFolder(dirname(path()));
      await writeFile(path(), `${JSON.stringify(choices, null, 2)}\n`);
    } catch (thrown) {
      note(`The timing of kernels is not kept: ${String(thrown)}`);
    }
  },
};

async function all(): Promise<Record<string, string>> {
  try {
    const found: unknown = JSON.parse(await readFile(path(), 'utf8'));
    return Object.fromEntries(
      Object.entries(found ?? {}).filter(([, value]) => typeof value === 'string'),
    );
  } catch {
    return {};
  }
}
