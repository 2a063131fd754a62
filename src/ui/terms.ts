/** The words of the field, each in plain language with its formula where it has one. */

export const terms = {
  attt: {
    word: 'agentic test-time training',
    text: 'While the agent acts, a small adapter is trained on the agent’s own recent text. Each token counts by how new it is, so that repeated text teaches little.',
  },
  policy: {
    word: 'policy model',
    text: 'The language model that acts: it reads the conversation and writes a thought and one action at each step.',
  },
  gguf: {
    word: 'GGUF',
    text: 'The file format of llama.cpp: weights, tokenizer and chat template in one file. Weights stay as small as they are in the file.',
  },
  quantisation: {
    word: 'quantisation',
    text: 'How the weights are stored. Q8_0: 8 bits a weight with one scale for 32 of them; Q4_0: 4 bits; F16 and F32: not quantised.',
  },
  parameters: { word: 'parameters', text: 'How many numbers the model has learnt.' },
  layers: {
    word: 'layers × width',
    text: 'How many blocks the model has, and how many numbers describe one token inside it.',
  },
  heads: {
    word: 'heads',
    text: 'Attention heads, and how many of them have keys and values of their own (fewer save memory).',
  },
  context: {
    word: 'context',
    text: 'The most tokens of conversation that the policy can read at once.',
  },
  sha256: {
    word: 'sha256',
    text: 'The fingerprint of the model file. Equal fingerprint, equal file.',
  },
  weights_memory: { word: 'weights', text: 'The model itself, quantised as in its file.' },
  kv: {
    word: 'KV cache',
    text: 'Keys and values of the conversation so far, kept so that a step costs only its new tokens. Grows with the context:\n2 × layers × context × key-value width × 4 bytes.',
  },
  lora: {
    word: 'LoRA adapter',
    text: 'A small pair of matrices beside each chosen weight matrix: W + (alpha / r) · B · A. Only A and B are trained; W stays as it is.',
  },
  lora_memory: {
    word: 'adapter memory',
    text: 'The trained numbers of the adapter: 4 bytes × r × (inputs + outputs) for each target module of each layer.',
  },
  optimiser: {
    word: 'optimiser',
    text: 'Adam keeps two running averages for each trained number: 2 × the adapter.\nm ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², step = lr · m̂ / (√v̂ + ε)',
  },
  activations: {
    word: 'activations',
    text: 'Working memory of reading and training: one input a layer is kept, the rest is computed again.',
  },
  split: {
    word: 'split',
    text: 'A fixed list of tasks. Tasks of “unseen” splits play in rooms that no training task has used.',
  },
  task: { word: 'task', text: 'One world with one goal. Its number in the split names it.' },
  goal: { word: 'goal', text: 'What the agent has to reach; the world itself checks it.' },
  thought: {
    word: 'thought',
    text: 'What the policy writes before its action. It only speaks to itself.',
  },
  action: { word: 'action', text: 'The one command that was sent to the world.' },
  observation: { word: 'observation', text: 'What the world answers.' },
  boundary: {
    word: 'boundary',
    text: 'After every K-th step the loop may train. Each boundary is recorded with its numbers and with the reason for what happened.',
  },
  update: {
    word: 'update',
    text: 'A few gradient steps on the update text; afterwards the policy acts with the changed adapter.',
  },
  rollback: {
    word: 'rollback',
    text: 'Adapter, optimiser and step counter go back to the episode start. World and conversation go on.',
  },
  reward: {
    word: 'reward',
    text: 'What the world gives for a step, summed up. The household gives 1 when the goal holds, else nothing.',
  },
  repetition: {
    word: 'repetition of a step',
    text: 'The largest Jaccard similarity of the words of this step’s text with those of any earlier step:\n|A ∩ B| / |A ∪ B|. 1 = the same words, 0 = none in common.',
  },
  ratio: {
    word: 'r_k',
    text: 'The largest Jaccard similarity of the words of this update text with an earlier accepted update text. It decides whether to train and whether to roll back.',
  },
  novelty: {
    word: 'novelty',
    text: '1 − r_k. An update needs at least the novelty threshold.',
  },
  kl: {
    word: 'KL',
    text: 'How far the policy has moved since the episode start: the mean over the trained positions of\nΣ p(now) · log(p(now) / p(start)), over the whole vocabulary, in nats.',
  },
  kl_context: {
    word: 'KL in context',
    text: 'The same at the next token of the last prompt: the drift where the agent acts. Only recorded, never a limit.',
  },
  loss: {
    word: 'loss',
    text: 'Σ w · CE / Σ w over the trained tokens, before the first gradient step and after the last. Lower = the text became likelier.',
  },
  ce: {
    word: 'cross entropy',
    text: 'CE = −log p(token), in nats: how surprised the policy was by this token. 0 = certain.',
  },
  entropy: {
    word: 'entropy',
    text: '−Σ p · log p over the whole vocabulary, in nats, after the update: how unsure the policy is of the next token. 0 = certain.',
  },
  alternatives: {
    word: 'alternatives',
    text: 'The likeliest tokens in this place after the update, with their log-probabilities in nats.',
  },
  logprob: {
    word: 'log-probability',
    text: 'log p(token) in nats, before the update and after it; the cross entropy with its sign turned.',
  },
  weight: {
    word: 'token weight',
    text: 'w = max(w_min, 1 / (1 + f)), where f is how often an n-gram that covers the token occurred in earlier accepted update texts. 1 = new, small = repeated.',
  },
  ngram: {
    word: 'n-gram',
    text: 'n token ids in a row. The most frequent one that covers a token decides the weight of the token.',
  },
  mean_weight: { word: 'mean weight', text: 'The mean of w over the trained tokens.' },
  delta: {
    word: '‖ΔW‖',
    text: 'The size of all that the adapter adds to the weights (Frobenius norm, scale included). 0 = no change.',
  },
  grad_norm: {
    word: 'gradient norm',
    text: 'The length of the whole gradient at each gradient step, before clipping.',
  },
  observe_only: {
    word: 'observe only',
    text: 'Every number of a boundary is computed and recorded, and nothing is trained.',
  },
  backend: {
    word: 'backend',
    text: 'What computes: the graphics card through WebGPU, or the processor through WebAssembly (WASM), which is slower.',
  },
  seed: {
    word: 'seed',
    text: 'Equal seeds give equal runs. Every method draws the same random numbers at the same step.',
  },
  peft: {
    word: 'PEFT',
    text: 'Hugging Face’s format for adapters: adapter_config.json and adapter_model.safetensors.',
  },
  jsonl: { word: 'JSONL', text: 'One JSON record a line; here one event of the run a line.' },
  change: {
    word: 'change',
    text: 'Cross entropy after the update minus before. Negative: the token became likelier.',
  },
} as const satisfies Record<string, { readonly word: string; readonly text: string }>;

export type TermName = keyof typeof terms;
