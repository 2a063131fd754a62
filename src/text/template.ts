/** A model's own chat template (Jinja): messages to the text that the model was trained on. */

import { Environment, Interpreter, Template } from '@huggingface/jinja';
import { LabError, messageOf } from '../errors.ts';
import { type GgufMetadata, metadataText } from '../formats/gguf.ts';
import type { ChatMessage } from '../records.ts';

export interface RenderOptions {
  /** End with the opening of an assistant turn. */
  readonly addGenerationPrompt: boolean;
  /** The text of the start token; empty when the model has none. */
  readonly bosToken: string;
  readonly eosToken: string;
}

/** No chat needs more turns; a crafted template must not fill the memory. */
const MAX_RANGE = 100_000;

/** The file's chat template. Throws `unsupported` when it has none. */
export function chatTemplateOf(metadata: GgufMetadata): string {
  const template = metadataText(metadata, 'tokenizer.chat_template');
  if (template) return template;
  throw new LabError(
    'unsupported',
    'The model file has no chat template (tokenizer.chat_template), so it cannot act in a ' +
      'conversation. Choose an instruction-tuned model, or a file converted with its template.',
  );
}

/**
 * Renders as Hugging Face does (`trim_blocks`, `lstrip_blocks`). Throws `bad_input` with the
 * template's own words when it refuses the messages, `unsupported` when it cannot be run here.
 *
 * The current date is not given (`strftime_now` stays undefined, as templates allow for), because
 * equal runs must have equal prompts.
 */
export function renderChat(
  template: string,
  messages: readonly ChatMessage[],
  options: RenderOptions,
): string {
  try {
    const { parsed } = new Template(template);
    const result = new Interpreter(environment(messages, options)).run(parsed);
    return String(result.value);
  } catch (error) {
    if (error instanceof LabError) throw error;
    const reason = messageOf(error);
    throw new LabError(
      'unsupported',
      `The model's chat template cannot be run here: ${reason}. Choose another model, or report this one.`,
      { reason },
    );
  }
}

function environment(messages: readonly ChatMessage[], options: RenderOptions): Environment {
  const variables: Record<string, unknown> = {
    true: true,
    false: false,
    none: null,
    True: true,
    False: false,
    None: null,
    range,
    raise_exception: refuse,
    messages,
    tools: null,
    documents: null,
    add_generation_prompt: options.addGenerationPrompt,
    bos_token: options.bosToken,
    eos_token: options.eosToken,
  };
  const environment = new Environment();
  for (const [name, value] of Object.entries(variables)) environment.set(name, value);
  return environment;
}

function refuse(message: unknown): never {
  const words = String(message);
  throw new LabError('bad_input', `The model's chat template refuses these messages: ${words}`, {
    words,
  });
}

/** Python's range. */
function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= MAX_RANGE)) {
    throw new Error(`range(${first}, ${second}, ${step}) is longer than ${MAX_RANGE}`);
  }
  return Array.from({ length }, (_, i) => start + i * step);
}
