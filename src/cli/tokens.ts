/** `attt tokens` and `attt decode`: text to ids and back, by the tokenizer in a model file. */

import { readGguf } from '../formats/gguf.ts';
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { openModel, readText } from './files.ts';
import { note } from './output.ts';

/** The ids of a text file, byte for byte; with `special`, control text is the control token. */
export async function tokens(options: {
  readonly model: string;
  readonly textFile: string;
  readonly special: boolean;
}): Promise<{ readonly ids: readonly number[] }> {
  const text = await readText(options.textFile);
  const tokenizer = await tokenizerOf(options.model);
  return { ids: tokenizer.encode(text, { special: options.special }) };
}

/** The text of ids, control tokens included. */
export async function decode(options: {
  readonly model: string;
  readonly ids: readonly number[];
}): Promise<{ readonly text: string }> {
  const tokenizer = await tokenizerOf(options.model);
  return { text: tokenizer.decode(options.ids) };
}

async function tokenizerOf(model: string): Promise<Tokenizer> {
  await using source = await openModel(model);
  const { metadata } = await readGguf(source);
  const tokenizer = createTokenizer(metadata);
  for (const warning of tokenizer.warnings) note(warning);
  return tokenizer;
}
