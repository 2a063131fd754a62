/** Names an adapter by its content, whatever file it came in. Knows no file. */

import { createSHA256 } from 'hash-wasm';
import { loraTargets } from '../config.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';

/**
 * SHA-256, hex, over the modules in order of layer and projection: for each the line
 * `layers.0.q_proj 64 8 128` (inputs, rank, outputs) with its newline, the scale as float64, then A and B
 * transposed as float32, all little-endian. A PEFT folder and a GGUF of one adapter in F32 agree in it.
 */
export async function adapterSha256(adapter: AdapterData): Promise<string> {
  const hash = await createSHA256();
  for (const { layer, target, inputs, rank, outputs, scale, aT, bT } of inOrder(adapter).modules) {
    hash.update(`layers.${layer}.${target} ${inputs} ${rank} ${outputs}\n`);
    hash.update(bytesOf(Float64Array.of(scale)));
    hash.update(bytesOf(aT));
    hash.update(bytesOf(bT));
  }
  return hash.digest('hex');
}

/** The same adapter with its modules by layer and projection: files have them in any order. */
export function inOrder({ modules }: AdapterData): AdapterData {
  const place = ({ layer, target }: LoraModuleData) =>
    layer * loraTargets.length + loraTargets.indexOf(target);
  return { modules: [...modules].sort((a, b) => place(a) - place(b)) };
}

/** Every machine that runs this is little-endian, as WebAssembly is. */
function bytesOf(values: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
