/** The CRC-32 that a zip notes for each of its files: what tells a damaged file from a whole one. */

const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** Of zip64, for archives of many or large files, or written by programs that always use it. */
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_BYTES = 20;
/** Of the end record, and the longest comment after it (APPNOTE 6.3, 4.3.16). */
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;

/** In the order of the central directory, in which zips are also unpacked; empty for bytes without one. */
export function zipSums(zip: Uint8Array): readonly number[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const sums: number[] = [];
  let at = directoryOf(view);
  while (at + 46 <= zip.length && view.getUint32(at, true) === CENTRAL) {
    sums.push(view.getUint32(at + 16, true));
    // Name, extra field and comment.
    at += [28, 30, 32].reduce((sum, field) => sum + view.getUint16(at + field, true), 46);
  }
  return sums;
}

/** Where the central directory begins; past the end where there is none. */
function directoryOf(view: DataView): number {
  const end = endOf(view);
  if (end < 0) return view.byteLength;
  const locator = end - LOCATOR_BYTES;
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR_64) {
    return view.getUint32(end + 16, true);
  }
  const end64 = Number(view.getBigUint64(locator + 8, true));
  if (end64 + 56 > view.byteLength || view.getUint32(end64, true) !== END_64) {
    return view.byteLength;
  }
  return Number(view.getBigUint64(end64 + 48, true));
}

/** Where the end record begins; -1 where there is none. */
function endOf(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--) {
    if (view.getUint32(at, true) === END) return at;
  }
  return -1;
}

/** As zip and PNG have it. Example: the nine bytes `123456789` -> 0xcbf43926 (the CRC catalogue's check value). */
export function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 255] ?? 0);
  return ~crc >>> 0;
}

const TABLE = Int32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});
