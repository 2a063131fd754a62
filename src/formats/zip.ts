/** Zip files whose content nobody vouches for in, files of ours out. Knows no file's meaning. */

import { type Zippable, zipSync } from 'fflate';
import { LabError } from '../errors.ts';
import { unzipChosen, type ZipLimits } from './unzip.ts';

/** Room for the largest run that the page can make, and for the adapters of a 7B model. */
const ZIP_LIMITS: ZipLimits = { files: 500, bytes: 2 ** 30 };

/** Letters, digits, `_`, `-`, `.` in folders of the same; no `..`, no absolute path, no drive. */
const SAFE_PATH = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.-][\w.+ -]*(?:\/[\w.+ -]+)*$/;

/**
 * The files of a zip by path; folders are left out. Throws as {@link unzipChosen} does, and
 * `bad_input` for a path that is unsafe.
 */
export function readZip(
  bytes: Uint8Array,
  name: string,
  limits: ZipLimits = ZIP_LIMITS,
): ReadonlyMap<string, Uint8Array> {
  const wanted = (path: string) => {
    if (path.endsWith('/')) return null;
    if (!SAFE_PATH.test(path)) {
      const shown = JSON.stringify(path.slice(0, 100));
      throw bad(`${name} holds a file named ${shown}, which is no plain path.`);
    }
    return limits.bytes;
  };
  return unzipChosen(bytes, wanted, limits, name).files;
}

/** A file to be packed. Floats and compressed data do not shrink: they are stored as they are. */
export interface ZipEntry {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly stored: boolean;
}

/** A zip without clock or machine in it: equal files in equal order give equal bytes. */
export function writeZip(entries: readonly ZipEntry[]): Uint8Array {
  const files: Zippable = {};
  for (const { path, bytes, stored } of entries) files[path] = [bytes, { level: stored ? 0 : 6 }];
  return zipSync(files, { mtime: new Date(1980, 0, 1) }); // the format's first day, by local time
}

function bad(message: string): LabError {
  return new LabError('bad_input', message);
}
