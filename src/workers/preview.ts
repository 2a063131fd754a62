/** What a model would need, told from the header of its file before any weight is read. */

import type { Settings } from '../config.ts';
import { countParameters, type GgufFile, metadataText } from '../formats/gguf.ts';
import { readLlamaConfig } from '../model/llama-config.ts';
import { defaultNeeds, estimateMemory, mostParametersOnWasm } from '../model/memory.ts';
import type { BackendName, ModelPreview } from '../records.ts';

/** A 32-bit heap ends here, whatever memory the computer has. */
const wasmHeapBytes = 4 * 2 ** 30;
/** The share of a computer's memory that one tab may well get; the rest belongs to other programs. */
const tabShare = 0.7;

/**
 * Memory part by part at these settings, beside what there is. `deviceGiB` is what the browser says
 * of the computer's memory; null where it says nothing. Throws what {@link readLlamaConfig} throws.
 */
export function previewModel(
  gguf: GgufFile,
  name: string,
  settings: Settings,
  backend: BackendName,
  deviceGiB: number | null,
): ModelPreview {
  const config = readLlamaConfig(gguf, settings.context_length);
  const trained = readLlamaConfig(gguf).contextLength;
  const tensorBytes = gguf.tensors.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    name: metadataText(gguf.metadata, 'general.name') ?? name,
    parameters: countParameters(gguf),
    fileBytes: tensorBytes,
    contextLength: config.contextLength,
    trainedContext: trained,
    memory: estimateMemory(config, {
      ...defaultNeeds,
      backend,
      tensors: gguf.tensors,
      rank: settings.lora_rank,
      targets: settings.target_modules,
    }),
    limit: limitOf(backend, deviceGiB, gguf),
  };
}

function limitOf(
  backend: BackendName,
  deviceGiB: number | null,
  { tensors }: GgufFile,
): ModelPreview['limit'] {
  if (backend === 'wasm') {
    const most = Math.round(mostParametersOnWasm(tensors) / 1e6);
    return {
      bytes: wasmHeapBytes,
      what: `the heap of WebAssembly: weights of about ${most} million parameters of these types fit`,
    };
  }
  if (deviceGiB === null) return null;
  return {
    bytes: Math.floor(deviceGiB * 2 ** 30 * tabShare),
    what: `${tabShare * 100} % of the ${deviceGiB} GiB that this browser reports`,
  };
}
