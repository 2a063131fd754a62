/** The command line that repeats a run without a browser. */

import { type FieldName, fieldNames, fields, settingsFor } from '../config.ts';
import type { RunManifest } from '../records.ts';
import { command as say } from './strings.ts';

export interface RepeatCommand {
  readonly command: string;
  /** The files that the command reads and that differ from the defaults. */
  readonly files: readonly ('config.toml' | 'settings.json')[];
  /** What a person has to put in place first; empty when nothing. */
  readonly note: string;
}

/** Settings that have a flag of their own and need no file. */
const byFlag: readonly FieldName[] = ['policy_model', 'method', 'seed'];

/** `npx attt run …` for the run with this manifest. */
export function repeatCommand(manifest: RunManifest): RepeatCommand {
  const { settings, task } = manifest;
  const defaults = settingsFor(manifest.env);
  const differs = (file: 'config.toml' | 'settings.json') =>
    fieldNames.some(
      (name) =>
        !byFlag.includes(name) &&
        fields[name].place.file === file &&
        JSON.stringify(settings[name]) !== JSON.stringify(defaults[name]),
    );
  const files = (['config.toml', 'settings.json'] as const).filter(differs);
  const parts = [
    'npx attt run',
    ...modelWords(manifest),
    `--env ${shellWord(shortEnv(manifest.env))}`,
    `--split ${shellWord(task.split)}`,
    `--tasks ${task.index}`,
    `--method ${settings.method}`,
    ...(manifest.startAdapter ? ['--adapter adapter-start'] : []),
    ...files.map((file) => (file === 'config.toml' ? `--config ${file}` : `--settings ${file}`)),
    `--seed ${settings.seed}`,
    ...(manifest.backend === 'remote' ? [] : [`--backend ${manifest.backend}`]),
    `--out runs/${shellWord(`${task.split}-${task.index}-${settings.method}-${settings.seed}`)}`,
  ];
  const names = files.join(' and ');
  const notes = [
    files.length > 0 ? say.saveFilesFirst(names) : '',
    manifest.startAdapter ? say.exportStart : '',
    task.split === 'file' ? say.putTaskFile : '',
  ];
  return { command: parts.join(' '), files, note: notes.filter(Boolean).join(' ') };
}

/** A file or bundled name; for a served model its server and its name there. */
function modelWords({ backend, device, modelName, settings }: RunManifest): readonly string[] {
  if (backend === 'remote') {
    return [`--model ${shellWord(device)}`, `--served-model ${shellWord(modelName)}`];
  }
  return [`--model ${shellWord(settings.policy_model || modelName)}`];
}

/** The command line knows the default household by its first word. */
function shortEnv(env: string): string {
  return env === 'household/ALFWorld-v0.4' ? 'household' : env;
}

/** A word that a POSIX shell reads as it is. */
function shellWord(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
