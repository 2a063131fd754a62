/** The CRC-32 that a zip notes for each of its files: what tells a damaged file from a whole one. */

const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** Of the end record, and the longest comment after it (APPNOTE 6.3, 4.3.16). */
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;

/** By name, from the central directory; empty for bytes without one. */
export function zipSums(zip: Uint8Array): ReadonlyMap<string, number> {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const sums = new Map<string, number>();
  let at = endOf(view);
  if (at < 0) return sums;
  const text = new TextDecoder();
  at = view.getUint32(at + 16, true);
  while (at + 46 <= zip.length && view.getUint32(at, true) === CENTRAL) {
    const [name, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
    const start = at + 46;
    const end = start + (name ?? 0);
    sums.set(text.decode(zip.subarray(start, end)), view.getUint32(at + 16, true));
    at = end + (extra ?? 0) + (comment ?? 0);
  }
  return sums;
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
