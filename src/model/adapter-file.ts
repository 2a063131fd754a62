/**
 * An adapter as one model takes it, from any of the forms that adapters come in, and back into them:
 * llama.cpp's GGUF, a zip of a PEFT folder, or the folder's two files.
 */

import { LabError } from '../errors.ts';
import type { AdapterDtype } from '../formats/adapter-dtype.ts';
import { type AdapterLabel, labelOfCard, labelOfMetadata } from '../formats/adapter-label.ts';
import { readGguf } from '../formats/gguf.ts';
import { readGgufLora, writeGgufLora } from '../formats/gguf-lora.ts';
import {
  type BaseModel,
  CARD_FILE,
  labelOfZip,
  readPeft,
  unzipPeft,
  wayOut,
  zipPeft,
} from '../formats/peft.ts';
import type { ByteSource } from '../formats/source.ts';
import type { AdapterData } from '../records.ts';
import { fitAdapter, fitGgufLora } from './fit-adapter.ts';
import type { LlamaConfig } from './llama-config.ts';
import { toGguf } from './lora-gguf.ts';
import { toHf } from './lora-hf.ts';

/** The forms that one file can have. */
const adapterForms = ['peft', 'gguf'] as const;
export type AdapterForm = (typeof adapterForms)[number];

/** Larger than any LoRA of a model that fits a browser. */
const MAX_BYTES = 2 ** 30;

/**
 * Reads one GGUF, one zip, or adapter_config.json beside adapter_model.safetensors and, at most, the
 * card. Throws what the
 * readers throw, and `bad_input` naming the files when they are none of these.
 */
export async function openAdapter(
  files: readonly ByteSource[],
  config: LlamaConfig,
): Promise<AdapterData> {
  const [first, second] = files;
  if (first !== undefined && second === undefined) {
    const magic = await magicOf(first);
    if (magic === 'GGUF') return fitGgufLora(await readGgufLora(first), config);
    if (magic.startsWith('PK')) return fitAdapter(await unzipPeft(await whole(first)), config);
  }
  const json = files.find(({ name }) => name.endsWith('.json'));
  const weights = files.find(({ name }) => name.endsWith('.safetensors'));
  const others = files.filter((file) => file !== json && file !== weights);
  const known = others.every(({ name }) => name === CARD_FILE);
  if (json !== undefined && weights !== undefined && known) {
    const text = new TextDecoder().decode(await whole(json));
    return fitAdapter(await readPeft(text, await whole(weights)), config);
  }
  const names = files.map(({ name }) => name);
  throw new LabError(
    'bad_input',
    `Found ${names.join(', ') || 'no file'}; expected an adapter: a GGUF LoRA, a zip of a PEFT folder, or adapter_config.json with adapter_model.safetensors.${wayOut(names)}`,
  );
}

/** The adapter as one file for others. Throws `bad_input` for one without modules. */
export function saveAdapter(
  adapter: AdapterData,
  form: AdapterForm,
  dtype: AdapterDtype,
  config: Pick<LlamaConfig, 'architecture' | 'headDim' | 'ropeStyle'>,
  base: BaseModel,
): Uint8Array {
  switch (form) {
    case 'peft':
      return zipPeft(toHf(adapter, config), base, dtype);
    case 'gguf':
      return writeGgufLora(toGguf(adapter), { ...base, architecture: config.architecture }, dtype);
    default:
      return form satisfies never;
  }
}

/** The label that the files carry, a PEFT folder's card among them; null where there is none. */
export async function adapterLabel(files: readonly ByteSource[]): Promise<AdapterLabel | null> {
  const card = files.find(({ name }) => name === CARD_FILE);
  if (card) return labelOfCard(new TextDecoder().decode(await whole(card)));
  const [file] = files;
  if (file === undefined || files.length > 1) return null;
  return (await magicOf(file)) === 'GGUF'
    ? labelOfMetadata((await readGguf(file)).metadata)
    : labelOfZip(await whole(file));
}

async function magicOf(file: ByteSource): Promise<string> {
  return String.fromCharCode(...(await file.read(0, Math.min(4, file.size))));
}

async function whole(file: ByteSource): Promise<Uint8Array> {
  if (file.size <= MAX_BYTES) return file.read(0, file.size);
  throw new LabError(
    'limit',
    `${file.name} has ${file.size} bytes; a file of an adapter may have ${MAX_BYTES}.`,
  );
}
