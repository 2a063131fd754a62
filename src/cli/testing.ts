/** For the command's tests only: runs it as a person does, as a process of its own. */

import { spawn } from 'node:child_process';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `attt` and waits for its end. */
export function attt(...args: readonly string[]): Promise<Ran> {
  return atttWith({}, ...args);
}

/** The same with other environment variables. */
export function atttWith(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['scripts/attt.mjs', ...args], {
      env: { ...process.env, ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (part) => {
      stdout += part;
    });
    child.stderr.on('data', (part) => {
      stderr += part;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** What it printed, once it ended well. */
export async function json(...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await attt(...args);
  if (code !== 0) throw new Error(`attt ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
