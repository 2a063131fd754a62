/** Takes chosen files out of a zip that nobody vouches for, within named limits. Knows no file format. */

import { type UnzipFileInfo, unzipSync } from 'fflate';
import { LabError, messageOf } from '../errors.ts';
import { crc32 } from './crc32.ts';
import { zipDirectory } from './zip-directory.ts';

/** What a zip may hold before it is refused unread: a few kB of zip can announce terabytes. */
export interface ZipLimits {
  readonly files: number;
  /** Bytes of all chosen files together, unpacked. */
  readonly bytes: number;
}

/** The two methods that every reader has (APPNOTE 6.3, 4.4.5). */
const STORED = 0;
const DEFLATED = 8;

/**
 * The files for which `wanted` gives their limit in bytes; null leaves a file packed. Throws `limit`
 * before anything is unpacked beyond a limit, `bad_input` for bytes that are no zip, a cut, damaged or two-faced one,
 * and for a wanted file that occurs twice, `unsupported` for one encrypted, or packed by another method than deflate.
 * `names` is every file in it. Errors call the zip by its name, where it has one.
 */
export function unzipChosen(
  bytes: Uint8Array,
  wanted: (name: string) => number | null,
  limits: ZipLimits,
  zip = 'The zip',
): { files: ReadonlyMap<string, Uint8Array>; names: readonly string[] } {
  const names: string[] = [];
  const places = new Map<string, number>();
  let total = 0;
  const filter = ({ name, originalSize, compression }: UnzipFileInfo) => {
    names.push(name);
    if (names.length > limits.files) throw beyond(zip, `more than ${limits.files} files`);
    const most = wanted(name);
    if (most === null) return false;
    if (places.has(name)) throw twice(zip, name);
    places.set(name, names.length - 1);
    if (compression !== STORED && compression !== DEFLATED) throw packed(zip, name, compression);
    total += originalSize;
    if (originalSize > most || total > limits.bytes) {
      const limit = Math.min(most, limits.bytes);
      throw beyond(zip, `${name} with ${originalSize} bytes, where at most ${limit} are read`);
    }
    return true;
  };
  try {
    const directory = zipDirectory(bytes, zip);
    // Each file is unpacked into an array of the announced size, so it cannot grow past it.
    const files = new Map(Object.entries(unzipSync(bytes, { filter })));
    for (const [name, content] of files) {
      const facts = directory[places.get(name) ?? -1];
      if (facts?.encrypted) throw locked(zip, name);
      if (facts && crc32(content) === facts.crc) continue;
      throw new LabError(
        'bad_input',
        `${zip} holds a damaged ${name}: its bytes are not those that were packed. Fetch it again.`,
        { name },
      );
    }
    return { files, names };
  } catch (thrown) {
    if (thrown instanceof LabError) throw thrown;
    throw new LabError(
      'bad_input',
      `${zip} is not a readable zip (${messageOf(thrown)}). It may be cut; fetch it again.`,
    );
  }
}

/** Of two files of one name each reader may take another. */
function twice(zip: string, name: string): LabError {
  return new LabError('bad_input', `${zip} holds ${name} twice. Make it again with one of each.`);
}

function beyond(zip: string, what: string): LabError {
  return new LabError('limit', `${zip} holds ${what}. Nothing was unpacked.`);
}

function locked(zip: string, name: string): LabError {
  return new LabError(
    'unsupported',
    `${zip} holds ${name} encrypted. Make it again without a password.`,
  );
}

function packed(zip: string, name: string, method: number): LabError {
  return new LabError(
    'unsupported',
    `${zip} holds ${name} packed by method ${method}; only stored and deflated files are read. Make it again with the usual compression, and without encryption.`,
  );
}
