/**
 * Makes a WebAssembly module that has, or imports, a plain memory use one that threads can share: the same
 * code, with the one flag of its memory's type changed.
 */

import { LabError } from '../../errors.ts';

/** Sections of a module (WebAssembly core specification, 5.5). */
const IMPORTS = 2;
const MEMORIES = 5;

/** The kind of an import, and bits of the flag of a memory's limits. */
const MEMORY = 2;
const HAS_MAXIMUM = 1;
const SHARED = 2;

/** A copy of `module` with a shared memory. Throws `unsupported` where its memory has no maximum. */
export function withSharedMemory(module: Uint8Array): Uint8Array {
  const bytes = module.slice();
  const at = limitsOf(new Reader(bytes));
  const flag = bytes[at];
  if (flag === undefined || (flag & HAS_MAXIMUM) === 0) {
    throw new LabError(
      'unsupported',
      'The WASM module has no memory with a maximum; only such a memory can be shared by threads. Use one thread.',
    );
  }
  bytes[at] = flag | SHARED;
  return bytes;
}

/** Where the flag of the first memory's limits lies; beyond the end when there is none. */
function limitsOf(reader: Reader): number {
  reader.at = 8; // after the magic number and the version
  while (reader.at < reader.length) {
    const section = reader.byte();
    const end = reader.number() + reader.at;
    if (section === MEMORIES && reader.number() > 0) return reader.at;
    if (section === IMPORTS) {
      for (let left = reader.number(); left > 0; left--) {
        reader.skipName();
        reader.skipName();
        const kind = reader.byte();
        if (kind === MEMORY) return reader.at;
        skipType(reader, kind);
      }
    }
    reader.at = end;
  }
  return reader.length;
}

/** The type of an import that is no memory: a function's number, a table, a global, or a tag. */
function skipType(reader: Reader, kind: number): void {
  if (kind === 0) reader.number();
  else if (kind === 1) {
    reader.byte();
    const bounded = reader.byte() & HAS_MAXIMUM;
    reader.number();
    if (bounded) reader.number();
  } else {
    reader.byte();
    reader.number();
  }
}

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++] ?? 0;
  }

  /** LEB128, unsigned. */
  number(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    return value;
  }

  skipName(): void {
    const length = this.number();
    this.at += length;
  }
}
