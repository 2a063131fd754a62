/** Names an adapter by its content, whatever file it came in. Knows no file. */

import { createSHA256 } from 'hash-wasm';
import { loraTargets } from '../config.ts';
import type { AdapterData, LoraModuleData } from '../records.ts';

/**
 * SHA-256, hex, over the modules in order of layer and projection: for each the line
 * `layers.0.q_proj 64 8 128` (inputs, rank, outputs) with its newline, then the scale, A and B transposed as
 * float32, all little-endian. A PEFT folder and a GGUF of one adapter in F32 agree in it.
 */
export async function adapterSha256(adapter: AdapterData): Promise<string> {
  const hash = await createSHA256();
  for (const { layer, target, inputs, rank, outputs, scale, aT, bT } of inOrder(adapter).modules) {
    hash.update(`layers.${layer}.${target} ${inputs} ${rank} ${outputs}\n`);
    hash.update(bytesOf(Float32Array.of(scale)));
    hash.update(bytesOf(aT));
    hash.update(bytesOf(bT));
  }
  return hash.digest('hex');
}

/**
 * The same adapter with its modules by layer and projection, since files have them in any order, and its scales
 * as float32, which is what is computed with: a file's alpha / rank may differ in a float64's last bit.
 */
export function inOrder({ modules }: AdapterData): AdapterData {
  const place = ({ layer, target }: LoraModuleData) =>
    layer * loraTargets.length + loraTargets.indexOf(target);
  return {
    modules: modules
      .map((module) => ({ ...module, scale: Math.fround(module.scale) }))
      .sort((a, b) => place(a) - place(b)),
  };
}

/** Every machine that runs this is little-endian, as WebAssembly is. */
function bytesOf(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
