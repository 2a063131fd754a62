/** What the directory at a zip's end notes of each file, which is what tells a damaged or two-faced file from a whole one. */

import { LabError } from '../errors.ts';

const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END = 0x06054b50;
/** Of zip64, for archives of many or large files, or written by programs that always use it. */
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_BYTES = 20;
/** In place of a number that stands in the zip64 extra field. */
const ELSEWHERE = 0xffffffff;
/** Of the end record, and the longest comment after it (APPNOTE 6.3, 4.3.16). */
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;

export interface ZipFacts {
  readonly crc: number;
  readonly encrypted: boolean;
}

/**
 * In the order of the directory, in which zips are also unpacked; empty for bytes without one. Throws `bad_input`
 * where it is not where the zip's end says, and where it calls a file otherwise than the header before the
 * file's content: then each reader may take another.
 */
export function zipDirectory(zip: Uint8Array, name: string): readonly ZipFacts[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const place = directoryOf(view);
  if (place === null) return [];
  const files: ZipFacts[] = [];
  let { at } = place;
  while (at + 46 <= zip.length && view.getUint32(at, true) === CENTRAL) {
    checkHeader(zip, view, at, name);
    files.push({
      crc: view.getUint32(at + 16, true),
      encrypted: (view.getUint16(at + 8, true) & 1) === 1,
    });
    // Name, extra field and comment.
    at += [28, 30, 32].reduce((sum, field) => sum + view.getUint16(at + field, true), 46);
  }
  if (files.length === place.files) return files;
  throw new LabError(
    'bad_input',
    `${name} has ${files.length} files where its end says that ${place.files} are: it is cut, or something was put before it. Fetch it again.`,
  );
}

function checkHeader(zip: Uint8Array, view: DataView, at: number, name: string): void {
  const header = headerOf(view, at);
  const told = zip.subarray(at + 46, at + 46 + view.getUint16(at + 28, true));
  const begins = header + 30 <= zip.length && view.getUint32(header, true) === LOCAL;
  const length = begins ? view.getUint16(header + 26, true) : 0;
  const own = zip.subarray(header + 30, header + 30 + length);
  if (begins && own.length === told.length && own.every((byte, i) => byte === told[i])) return;
  const [one, other] = [told, own].map((bytes) =>
    JSON.stringify(new TextDecoder().decode(bytes.subarray(0, 100))),
  );
  throw new LabError(
    'bad_input',
    `${name} calls a file ${one} in its directory and ${begins ? other : 'nothing'} before its content. Make it again, or fetch it again.`,
  );
}

/** Where the header before a file's content begins. */
function headerOf(view: DataView, at: number): number {
  const plain = view.getUint32(at + 42, true);
  if (plain !== ELSEWHERE) return plain;
  let field = at + 46 + view.getUint16(at + 28, true);
  const end = field + view.getUint16(at + 30, true);
  while (field + 4 <= end) {
    if (view.getUint16(field, true) === 1) {
      // Sizes come first, those alone that stand nowhere else.
      const sizes = [24, 20].filter((size) => view.getUint32(at + size, true) === ELSEWHERE);
      return Number(view.getBigUint64(field + 4 + 8 * sizes.length, true));
    }
    field += 4 + view.getUint16(field + 2, true);
  }
  return plain;
}

/** Where the directory begins, and how many files it has; null where the zip has no end. */
function directoryOf(view: DataView): { readonly at: number; readonly files: number } | null {
  const end = endOf(view);
  if (end < 0) return null;
  const locator = end - LOCATOR_BYTES;
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR_64) {
    return { at: view.getUint32(end + 16, true), files: view.getUint16(end + 10, true) };
  }
  const end64 = Number(view.getBigUint64(locator + 8, true));
  if (end64 + 56 > view.byteLength || view.getUint32(end64, true) !== END_64) return null;
  return {
    at: Number(view.getBigUint64(end64 + 48, true)),
    files: Number(view.getBigUint64(end64 + 32, true)),
  };
}

/** Where the end record begins; -1 where there is none. */
function endOf(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--) {
    if (view.getUint32(at, true) === END) return at;
  }
  return -1;
}
