/** For tests only: a llama of random weights that speaks bytes, so that episodes run in seconds. */

import { type GgufTensorData, type GgufValue, writeGguf } from '../formats/gguf-writer.ts';
import { deriveRng, type Rng } from '../math/rng.ts';
import { BYTE_TO_CHAR } from '../text/byte-alphabet.ts';

const width = 32;
const hidden = 64;
const layers = 2;
const heads = 2;
/** Control tokens come first, then the 256 bytes. */
const control = ['<|start|>', '<|end|>'];
const tokens = [...control, ...BYTE_TO_CHAR];

const template =
  '{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}';

/** The bytes of a GGUF file; equal seeds give equal files. */
export function randomPolicy(seed: number): Uint8Array {
  const rng = deriveRng(seed, 'test policy');
  const matrix = (name: string, rows: number, cols: number): GgufTensorData => ({
    name,
    type: 'F32',
    shape: [cols, rows],
    data: floats(rows * cols, () => gaussian(rng) / Math.sqrt(cols)),
  });
  const norm = (name: string): GgufTensorData => ({
    name,
    type: 'F32',
    shape: [width],
    data: floats(width, () => 1),
  });
  const layer = (index: number) => [
    norm(`blk.${index}.attn_norm.weight`),
    matrix(`blk.${index}.attn_q.weight`, width, width),
    matrix(`blk.${index}.attn_k.weight`, width, width),
    matrix(`blk.${index}.attn_v.weight`, width, width),
    matrix(`blk.${index}.attn_output.weight`, width, width),
    norm(`blk.${index}.ffn_norm.weight`),
    matrix(`blk.${index}.ffn_gate.weight`, hidden, width),
    matrix(`blk.${index}.ffn_up.weight`, hidden, width),
    matrix(`blk.${index}.ffn_down.weight`, width, hidden),
  ];
  return writeGguf(metadata, [
    matrix('token_embd.weight', tokens.length, width),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
    norm('output_norm.weight'),
  ]);
}

const whole = (value: number): GgufValue => ({ type: 'uint32', value });
const text = (value: string): GgufValue => ({ type: 'string', value });

const metadata: Readonly<Record<string, GgufValue>> = {
  'general.architecture': text('llama'),
  'general.name': text('random test policy'),
  'llama.block_count': whole(layers),
  'llama.context_length': whole(4096),
  'llama.embedding_length': whole(width),
  'llama.feed_forward_length': whole(hidden),
  'llama.attention.head_count': whole(heads),
  'llama.attention.head_count_kv': whole(heads),
  'llama.attention.layer_norm_rms_epsilon': { type: 'float32', value: 1e-5 },
  'llama.rope.dimension_count': whole(width / heads),
  'llama.rope.freq_base': { type: 'float32', value: 10_000 },
  'tokenizer.ggml.model': text('gpt2'),
  'tokenizer.ggml.pre': text('smollm'),
  'tokenizer.ggml.tokens': { type: 'strings', value: tokens },
  'tokenizer.ggml.token_type': {
    type: 'int32s',
    value: tokens.map((_, id) => (id < control.length ? 3 : 1)),
  },
  'tokenizer.ggml.merges': { type: 'strings', value: [] },
  'tokenizer.ggml.eos_token_id': whole(1),
  'tokenizer.chat_template': text(template),
};

function floats(length: number, next: () => number): Uint8Array {
  return new Uint8Array(Float32Array.from({ length }, next).buffer);
}

/** Box and Muller. */
function gaussian(rng: Rng): number {
  return Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());
}
