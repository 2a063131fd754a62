/** One number for "these two models read and write the same ids": the hash of a file's tokenizer keys. */

import { sha256 } from 'hash-wasm';
import type { GgufMetadata } from '../formats/gguf.ts';

/**
 * SHA-256, hex, of the UTF-8 JSON of `[key, value]` for every metadata key that starts with
 * `tokenizer.`, in the order of the keys' code units; the chat template is one of them.
 */
export function tokenizerHash(metadata: GgufMetadata): Promise<string> {
  const entries = Object.entries(metadata)
    .filter(([key]) => key.startsWith('tokenizer.'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256(JSON.stringify(entries));
}
