/** GPT-2's way to write any byte as one printable character, so that tokens are plain strings. */

/** byte -> character: printable Latin-1 stands for itself, the other 68 bytes for U+0100 and on. */
export const BYTE_TO_CHAR: readonly string[] = alphabet();

export const CHAR_TO_BYTE: ReadonlyMap<string, number> = new Map(
  BYTE_TO_CHAR.map((char, byte) => [char, byte]),
);

function alphabet(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
    return String.fromCharCode(printable ? byte : next++);
  });
}

const encoder = new TextEncoder();

/** The UTF-8 bytes of `text`, each as its character. */
export function toByteText(text: string): string {
  let out = '';
  for (const byte of encoder.encode(text)) out += BYTE_TO_CHAR[byte];
  return out;
}

/** The bytes that a token's text stands for; a character outside the alphabet is its own UTF-8. */
export function fromByteText(token: string): Uint8Array {
  const bytes: number[] = [];
  for (const char of token) {
    const byte = CHAR_TO_BYTE.get(char);
    if (byte === undefined) bytes.push(...encoder.encode(char));
    else bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
