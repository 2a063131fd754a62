import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { strFromU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { labelOfZip, type PeftModule, readPeft, unzipPeft, writePeft, zipPeft } from './peft.ts';
import { writeSafetensors } from './safetensors.ts';

const fixture = (name: string) => `e2e/fixtures/adapters/${name}`;
const read = (name: string, change: Record<string, unknown> = {}) => {
  const config = JSON.parse(readFileSync(fixture(`${name}/adapter_config.json`), 'utf8'));
  const weights = new Uint8Array(readFileSync(fixture(`${name}/adapter_model.safetensors`)));
  return readPeft(JSON.stringify({ ...config, ...change }), weights);
};

test('a rank-stabilised adapter of PEFT has scale alpha / √r (B19)', async () => {
  const modules = await read('ad_rslora');
  expect(modules).toHaveLength(8); // q, k, v, o of two layers
  expect(modules.map(({ scale }) => scale)).toEqual(Array(8).fill(4));
  expect((await read('ad_rslora', { use_rslora: false }))[0]?.scale).toBe(2);
});

test('tensors that match nothing are refused, counted and named (B21)', async () => {
  await expect(read('ad_bad')).rejects.toThrow(
    /12 tensors .* no LoRA matrices of a projection in a layer: base_model\.model\.transformer\./,
  );
});

test('full tensors, DoRA, bias and other PEFT types are refused by name (B26)', async () => {
  await expect(read('ad_fullhead', { modules_to_save: null })).rejects.toThrow(
    /lm_head\.weight.*modules_to_save/,
  );
  await expect(read('ad_rslora', { modules_to_save: ['lm_head'] })).rejects.toThrow(
    /modules_to_save lm_head/,
  );
  await expect(read('ad_rslora', { use_dora: true })).rejects.toThrow(/use_dora/);
  await expect(read('ad_rslora', { bias: 'all' })).rejects.toThrow(/bias "all"/);
  await expect(read('ad_rslora', { peft_type: 'LOHA' })).rejects.toThrow(/peft_type "LOHA"/);
});

test('rank and alpha patterns hold for the names they end', async () => {
  const modules = await read('ad_rslora', {
    alpha_pattern: { 'layers.0.self_attn.q_proj': 16 },
  });
  const scales = Object.fromEntries(modules.map((m) => [m.name, m.scale]));
  expect(scales['model.layers.0.self_attn.q_proj']).toBe(8);
  expect(scales['model.layers.1.self_attn.q_proj']).toBe(4);
  await expect(read('ad_rslora', { rank_pattern: { q_proj: 2 } })).rejects.toThrow(
    /rank 4, but .* says 2/,
  );
});

test('pattern keys are regular expressions for the end of a name, as in PEFT', async () => {
  const scaleOf = async (key: string) =>
    (await read('ad_rslora', { alpha_pattern: { [key]: 16 } }))[0]?.scale;
  // The first module is layers.0.self_attn.k_proj; scale 8 where the key matches, 4 where not.
  expect(await scaleOf('model.layers.0.*.k_proj')).toBe(8);
  expect(await scaleOf('layers\\.0\\.self_attn\\.k_proj')).toBe(8);
  expect(await scaleOf('self_attn\\.(k|v)_proj')).toBe(8);
  expect(await scaleOf('proj')).toBe(4);
  expect(await scaleOf('attn.k_proj')).toBe(4);
  await expect(scaleOf('(?=k)k_proj')).rejects.toThrow(/pattern .* cannot be read here/);
});

test('a crafted pattern takes no longer than a plain one', async () => {
  const began = performance.now();
  const pattern = `(?:${'(?:.*)*'.repeat(20)})*x`;
  await expect(read('ad_rslora', { target_modules: pattern })).rejects.toThrow(/target_modules/);
  expect(performance.now() - began).toBeLessThan(2000);
});

test('more patterns than any model has modules are refused unread', async () => {
  const pattern = Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`x${i}`, 1]));
  await expect(read('ad_rslora', { alpha_pattern: pattern })).rejects.toThrow(
    'alpha_pattern has 2001 names; at most 2000 are read',
  );
});

test('weights that the config does not adapt are refused: PEFT would leave them out', async () => {
  await expect(read('ad_rslora', { target_modules: ['q_proj'] })).rejects.toThrow(
    /6 modules .* none that target_modules names: model\.layers\.0\.self_attn\.k_proj/,
  );
  await expect(read('ad_rslora', { exclude_modules: ['v_proj'] })).rejects.toThrow(/2 modules/);
  await expect(read('ad_rslora', { layers_to_transform: [1] })).rejects.toThrow(/4 modules/);
  await expect(read('ad_rslora', { target_modules: '.*mlp.*' })).rejects.toThrow(/8 modules/);
  await expect(read('ad_rslora', { target_modules: [] })).rejects.toThrow(/expected a list/);
  for (const target of ['.*_proj', 'all-linear']) {
    await expect(
      read('ad_rslora', { target_modules: target, layers_to_transform: 1 }),
    ).rejects.toThrow(/beside a pattern, which chooses the layers itself/);
  }
  const accepted = [
    { target_modules: 'all-linear' },
    { target_modules: '.*_proj' },
    { target_modules: ['self_attn.q_proj', 'k_proj', 'v_proj', 'o_proj'] },
    { layers_to_transform: [0, 1], layers_pattern: 'layers' },
    { layers_to_transform: [0, 1], layers_pattern: ['h', 'lay.*'] },
    {
      layers_to_transform: [1],
      target_modules: [
        ...['q_proj', 'k_proj', 'v_proj', 'o_proj'],
        ...['q', 'k', 'v', 'o'].map((part) => `model.layers.0.self_attn.${part}_proj`),
      ],
    },
  ];
  for (const change of accepted) expect(await read('ad_rslora', change)).toHaveLength(8);
});

test('settings that change what LoRA computes are refused by name', async () => {
  await expect(read('ad_rslora', { lora_bias: true })).rejects.toThrow(/lora_bias true/);
  await expect(read('ad_rslora', { trainable_token_indices: [1] })).rejects.toThrow(
    /trainable_token_indices \[1\]/,
  );
  expect(await read('ad_rslora', { lora_bias: null, target_parameters: [] })).toHaveLength(8);
});

test('a null is what it is to PEFT 0.21.2: an error, its own choice, or not in use', async () => {
  const config = JSON.parse(readFileSync(fixture('ad_rslora/adapter_config.json'), 'utf8'));
  const refused: readonly string[] = [
    ...['alpha_pattern', 'bias', 'lora_alpha', 'lora_dropout', 'peft_type', 'r', 'rank_pattern'],
    'target_modules', // q_proj and v_proj, which leaves k_proj and o_proj of this adapter out
  ];
  for (const key of Object.keys(config)) {
    const found = read('ad_rslora', { [key]: null });
    if (refused.includes(key)) await expect(found, key).rejects.toThrow(key);
    else expect(await found, key).toHaveLength(8);
  }
  expect((await read('ad_rslora', { use_rslora: null }))[0]?.scale).toBe(2);
  const files = writePeft(
    (await read('ad_rslora')).filter(({ name }) => /[qv]_proj$/.test(name)),
    card,
  );
  const unnamed = JSON.stringify({
    ...JSON.parse(strFromU8(files['adapter_config.json'])),
    target_modules: null,
  });
  expect(await readPeft(unnamed, files['adapter_model.safetensors'])).toHaveLength(4);
});

test.each([
  [{ lora_dropout: '0.1' }, 'lora_dropout is "0.1"; expected a number of at most 1'],
  [{ lora_dropout: 2 }, 'lora_dropout is 2'],
  [{ layers_to_transform: true }, 'layers_to_transform is true'], // to Python that is layer 1
  [{ layers_to_transform: '0' }, 'layers_to_transform is "0"'],
  [{ layers_to_transform: [0, 1.5] }, 'layers_to_transform is [0,1.5]'],
  [{ layers_pattern: 'layers' }, 'layers_pattern "layers" stands without layers_to_transform'],
  [{ rank_pattern: [4] }, 'rank_pattern is [4]; expected numbers by names'],
  [{ alpha_pattern: 'q_proj' }, 'alpha_pattern is "q_proj"'],
])('%j, which PEFT reads otherwise or not at all, is refused by name', async (change, message) => {
  await expect(read('ad_rslora', change)).rejects.toThrow(`adapter_config.json: ${message}`);
});

/** Every setting of LoraConfig in PEFT 0.21.2 that makes it compute something else, in use. */
const otherSums = {
  alora_invocation_tokens: [1, 2],
  arrow_config: { top_k: 3 },
  bias: 'lora_only',
  kasa_config: {}, // to PEFT an empty object is the method with its defaults
  layer_replication: [[0, 2]],
  lora_bias: true,
  megatron_config: { tensor_model_parallel_size: 2 },
  modules_to_save: ['embed_tokens'],
  monteclora_config: {},
  target_parameters: ['mlp.experts.gate_up_proj'],
  trainable_token_indices: { embed_tokens: [1] },
  use_bdlora: {},
  use_dora: true,
  use_qalora: true,
  velora_config: { num_groups: 4 },
  a_setting_of_tomorrow: 1,
};

test.each(Object.entries(otherSums))('%s in use is refused by name', async (key, value) => {
  await expect(read('ad_rslora', { [key]: value })).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining(key),
  });
});

test('a start that changes the base is refused, one that leaves it alone is not', async () => {
  for (const init of ['pissa', 'pissa_niter_16', 'olora', 'corda', 'loftq', 'lora_ga', 'new']) {
    await expect(read('ad_rslora', { init_lora_weights: init })).rejects.toThrow(
      /init_lora_weights .* changes the base's own weights/,
    );
  }
  for (const init of [true, false, 'gaussian', 'eva', 'orthogonal', 'mica']) {
    expect(await read('ad_rslora', { init_lora_weights: init })).toHaveLength(8);
  }
});

test('what only says how it was trained or loaded is not in the way', async () => {
  const how = {
    ...{
      fan_in_fan_out: true,
      lora_dropout: 0.5,
      ensure_weight_tying: true,
      inference_mode: false,
    },
    ...{ eva_config: { rho: 2 }, loftq_config: { loftq_bits: 4 }, qalora_group_size: 32 },
    ...{ corda_config: {}, lora_ga_config: {} },
    ...{ target_modules: 'All-Linear', target_parameters: [], revision: 'main' },
  };
  expect(await read('ad_rslora', how)).toHaveLength(8);
});

test('a switch that is neither true nor false is refused: Python takes 1 and "false" for true', async () => {
  for (const key of ['use_dora', 'use_rslora']) {
    for (const value of [1, 'false', []]) {
      await expect(read('ad_rslora', { [key]: value })).rejects.toThrow(
        `${key} is ${JSON.stringify(value)}; expected true or false`,
      );
    }
  }
});

test('an alpha that float32 does not hold is refused: every product would be infinite', async () => {
  const weights = new Uint8Array(readFileSync(fixture('ad_rslora/adapter_model.safetensors')));
  const config = readFileSync(fixture('ad_rslora/adapter_config.json'), 'utf8');
  for (const alpha of ['1e999', '-1e300']) {
    const general = config.replace(/"lora_alpha": *\d+/, `"lora_alpha": ${alpha}`);
    await expect(readPeft(general, weights)).rejects.toThrow(/lora_alpha .*that float32 holds/);
    const special = config.replace('{', `{"alpha_pattern": {"q_proj": ${alpha}},`);
    await expect(readPeft(special.replace(/"alpha_pattern": *\{\},/, ''), weights)).rejects.toThrow(
      /alpha_pattern has .*that float32 holds/,
    );
  }
});

test('a config that is no object is refused', async () => {
  await expect(readPeft('null', new Uint8Array(8))).rejects.toThrow(
    /holds null; expected an object/,
  );
  await expect(readPeft('{', new Uint8Array(8))).rejects.toThrow(/is not JSON/);
});

test('a name that occurs with and without the adapter name is refused; either alone is read', async () => {
  const matrix = { shape: [1, 1], values: Float32Array.of(1) };
  const name = 'base_model.model.model.layers.0.mlp.up_proj.lora_';
  const config = JSON.stringify({
    ...{ peft_type: 'LORA', r: 1, lora_alpha: 2, target_modules: ['up_proj'] },
  });
  const tensors = new Map([
    [`${name}A.default.weight`, matrix],
    [`${name}B.default.weight`, matrix],
  ]);
  expect(await readPeft(config, writeSafetensors(tensors))).toMatchObject([
    { name: 'model.layers.0.mlp.up_proj', scale: 2 },
  ]);
  tensors.set(`${name}A.weight`, matrix);
  await expect(readPeft(config, writeSafetensors(tensors))).rejects.toThrow(
    /up_proj\.lora_A occurs twice/,
  );
  tensors.delete(`${name}A.weight`);
  tensors.delete(`${name}A.default.weight`);
  await expect(readPeft(config, writeSafetensors(tensors))).rejects.toThrow(/lora_A missing/);
});

test('what is written is what PEFT reads: names, config, a card', async () => {
  const files = writePeft(await read('ad_rslora'), { name: 'tiny', licence: 'apache-2.0' });
  const config = JSON.parse(strFromU8(files['adapter_config.json'] ?? new Uint8Array()));
  expect(config).toMatchObject({
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: 'tiny',
    r: 4,
    lora_alpha: 16, // scale 4 as alpha / r
    target_modules: ['k_proj', 'o_proj', 'q_proj', 'v_proj'],
  });
  const header = strFromU8(
    (files['adapter_model.safetensors'] ?? new Uint8Array()).subarray(8, 2000),
  );
  expect(header).toContain('"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"');
  expect(strFromU8(files['README.md'] ?? new Uint8Array())).toMatch(
    /base_model: tiny\nlibrary_name: peft/,
  );
});

/** 100 adapters of random shapes, scales and places; values as float32 can hold them, or as float16. */
const adapters = (values: fc.Arbitrary<number>) =>
  fc.uniqueArray(
    fc
      .record({
        layer: fc.integer({ min: 0, max: 40 }),
        target: fc.constantFrom('self_attn.q_proj', 'self_attn.o_proj', 'mlp.down_proj'),
        inputs: fc.integer({ min: 1, max: 6 }),
        outputs: fc.integer({ min: 1, max: 6 }),
        rank: fc.integer({ min: 1, max: 4 }),
        alpha: fc.integer({ min: 0, max: 64 }),
        pool: fc.array(values, { minLength: 1, maxLength: 60 }),
      })
      .map(({ layer, target, inputs, outputs, rank, alpha, pool }): PeftModule => {
        const matrix = (rows: number, cols: number) => ({
          rows,
          cols,
          values: Float32Array.from({ length: rows * cols }, (_, i) => pool[i % pool.length] ?? 0),
        });
        const name = `model.layers.${layer}.${target}`;
        return { name, scale: alpha / rank, a: matrix(rank, inputs), b: matrix(outputs, rank) };
      }),
    { minLength: 1, maxLength: 5, selector: ({ name }) => name },
  );
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });
/** Multiples of 1/64 up to 3: exact in float16 (11 bits) and in bfloat16 (8 bits). */
const eightBits = fc.integer({ min: -192, max: 192 }).map((n) => n / 64);
const card = { name: 'm', licence: null };

test('export and import give the same bits, whatever shapes, ranks and scales', async () => {
  await fc.assert(
    fc.asyncProperty(adapters(float32), async (modules) => {
      expect(await unzipPeft(zipPeft(modules, card))).toEqual(modules);
    }),
    { numRuns: 100 },
  );
});

test('what float16 and bfloat16 can hold comes back as it was; what they cannot is refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      adapters(eightBits),
      fc.constantFrom('F16', 'BF16'),
      async (modules, dtype) => {
        expect(await unzipPeft(zipPeft(modules, card, dtype))).toEqual(modules);
      },
    ),
    { numRuns: 100 },
  );
  const [module] = await read('ad_rslora');
  if (module === undefined) throw new Error('no module');
  const large = { ...module, b: { ...module.b, values: module.b.values.map(() => 70_000) } };
  expect(() => zipPeft([large], card, 'F16')).toThrow(
    /lora_B.* holds 70000, which F16 cannot hold/,
  );
  expect(await unzipPeft(zipPeft([large], card, 'BF16'))).toHaveLength(1);
  const broken = { ...module, a: { ...module.a, values: module.a.values.map(() => Number.NaN) } };
  expect(() => zipPeft([broken], card)).toThrow(/lora_A.* holds NaN at place 0/);
});

test('weights with a value that is no number are refused, naming the tensor', async () => {
  const bytes = new Uint8Array(readFileSync(fixture('ad_rslora/adapter_model.safetensors')));
  bytes.set([0, 0, 0xc0, 0x7f], bytes.length - 4); // a quiet NaN
  const config = readFileSync(fixture('ad_rslora/adapter_config.json'), 'utf8');
  await expect(readPeft(config, bytes)).rejects.toThrow(/lora_\w\.weight holds NaN/);
});

test('a cut zip and a cut weight file are refused wherever they are cut', async () => {
  const zip = zipPeft(await read('ad_rslora'), card);
  const weights = readFileSync(fixture('ad_rslora/adapter_model.safetensors'));
  const config = readFileSync(fixture('ad_rslora/adapter_config.json'), 'utf8');
  await fc.assert(
    fc.asyncProperty(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), async (at) => {
      const cut = (bytes: Uint8Array) => bytes.slice(0, Math.floor(at * bytes.length));
      await expect(unzipPeft(cut(zip))).rejects.toBeInstanceOf(LabError);
      await expect(readPeft(config, cut(weights))).rejects.toBeInstanceOf(LabError);
    }),
    { numRuns: 100 },
  );
});

test('a random header gives an adapter or a LabError, and never anything else', async () => {
  const config = readFileSync(fixture('ad_rslora/adapter_config.json'), 'utf8');
  const part = 'base_model.model.model.layers.0.self_attn.q_proj.lora_';
  const key = fc.oneof(
    fc.constantFrom(`${part}A.weight`, `${part}B.weight`, '__metadata__', '__proto__'),
    fc.string(),
  );
  const numbers = fc.array(fc.oneof(fc.integer(), fc.double()), { maxLength: 4 });
  const entry = fc.record({
    dtype: fc.constantFrom('F32', 'F16', 'BF16', 'F64', 'toString'),
    shape: fc.oneof(numbers, fc.array(fc.nat(4), { maxLength: 3 })),
    data_offsets: fc.oneof(numbers, fc.tuple(fc.nat(64), fc.nat(64))),
  });
  const header = fc.dictionary(key, fc.oneof(entry, fc.jsonValue()), { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(header, fc.nat(64), async (value, dataBytes) => {
      const text = new TextEncoder().encode(JSON.stringify(value));
      const file = new Uint8Array(8 + text.length + dataBytes);
      new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
      file.set(text, 8);
      await expect(readPeft(config, file)).rejects.toBeInstanceOf(LabError);
    }),
    { numRuns: 300 },
  );
});

test('a random config gives an adapter or a LabError, and never anything else', async () => {
  const weights = new Uint8Array(readFileSync(fixture('ad_rslora/adapter_model.safetensors')));
  const start = JSON.parse(readFileSync(fixture('ad_rslora/adapter_config.json'), 'utf8'));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(start)), fc.jsonValue(), async (key, value) => {
      const read = readPeft(JSON.stringify({ ...start, [key]: value }), weights);
      const outcome = await read.then(
        (modules) => modules.length,
        (thrown) => thrown,
      );
      if (outcome !== 8) expect(outcome).toBeInstanceOf(LabError);
    }),
    { numRuns: 300 },
  );
});

test('a base that only some layers of are adapted is named layer by layer', async () => {
  const modules = (await read('ad_rslora')).filter(({ name }) => !name.includes('1.self_attn.k'));
  const files = writePeft(modules, card);
  const config = JSON.parse(strFromU8(files['adapter_config.json'] ?? new Uint8Array()));
  expect(config.target_modules).toEqual(modules.map(({ name }) => name));
});

test('a zip that would unpack beyond its limits is refused before it is unpacked', async () => {
  const zeros = (bytes: number) => new Uint8Array(bytes);
  const config = zipSync({
    'adapter_config.json': zeros(2 ** 21),
    'adapter_model.safetensors': zeros(8),
  });
  expect(config.length).toBeLessThan(5000);
  await expect(unzipPeft(config)).rejects.toMatchObject({
    code: 'limit',
    message: expect.stringMatching(/adapter_config\.json with 2097152 bytes, .* at most 1048576/),
  });
  const announced = zipSync({
    'adapter_config.json': zeros(8),
    'adapter_model.safetensors': zeros(8),
  });
  // Both the local and the central header announce 3 GiB for the second file.
  const text = strFromU8(announced, true);
  for (
    let at = text.indexOf('adapter_model');
    at >= 0;
    at = text.indexOf('adapter_model', at + 1)
  ) {
    const sizeAt = text.startsWith('PK\x01\x02', at - 46) ? at - 46 + 24 : at - 30 + 22;
    new DataView(announced.buffer).setUint32(sizeAt, 3 * 2 ** 30, true);
  }
  await expect(unzipPeft(announced)).rejects.toMatchObject({ code: 'limit' });
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}.txt`, zeros(1)]));
  await expect(unzipPeft(zipSync(many))).rejects.toThrow(/more than 200 files/);
});

test('a zip of two adapters is refused: which one was meant is not said', async () => {
  const one = writePeft(await read('ad_rslora'), card);
  const twice = { a: { ...one }, b: { ...one } };
  await expect(unzipPeft(zipSync(twice))).rejects.toThrow(/expected one adapter_config\.json/);
  expect(await unzipPeft(zipSync({ folder: { ...one } }))).toHaveLength(8);
});

test('a zip that holds its config twice is refused: readers would take different ones', async () => {
  const files = writePeft(await read('ad_rslora'), card);
  const zip = zipSync({
    ...files,
    'adapter_config.jsoN': files['adapter_config.json'] ?? new Uint8Array(1),
  });
  zip.forEach((byte, i) => {
    if (byte === 0x4e && zip[i - 1] === 0x6f) zip[i] = 0x6e;
  });
  await expect(unzipPeft(zip)).rejects.toThrow(/holds adapter_config\.json twice/);
});

test('a zip without the two files, and bytes that are no zip, say so', async () => {
  await expect(unzipPeft(zipSync({ 'a.txt': new Uint8Array(1) }))).rejects.toThrow(
    /holds a\.txt; expected one adapter_config/,
  );
  await expect(unzipPeft(new Uint8Array([1, 2, 3]))).rejects.toThrow(/not a readable zip/);
});

test.each([
  [['adapter_config.json', 'adapter_model.bin'], /Pickles .* are not opened, .*save_pretrained/],
  [['adapter_model/data.pkl', 'adapter_model/version'], /Pickles/], // what torch.save writes is a zip
  [
    [
      ...['adapter_config.json', 'adapter_model.safetensors.index.json'],
      'adapter_model-00001-of-00002.safetensors',
    ],
    /several parts are not opened: .*save_pretrained\(folder\) writes one file/,
  ],
])('a zip of %j says how to get one safetensors file', async (names, message) => {
  const files = Object.fromEntries(names.map((name) => [name, new Uint8Array(8)]));
  await expect(unzipPeft(zipSync(files))).rejects.toThrow(message);
});

test('folders of any system are opened: one inside another, with what macOS adds, with backslashes', async () => {
  const files = writePeft(await read('ad_rslora'), card);
  const under = (start: string) =>
    Object.entries(files).map(([name, content]) => [`${start}${name}`, content] as const);
  const mac = Object.keys(files).map(
    (name) => [`__MACOSX/._${name}`, new Uint8Array(120)] as const,
  );
  for (const list of [under('a/my adapter/'), under('a\\'), [...under(''), ...mac]]) {
    const zip = zipSync(Object.fromEntries(list));
    expect(await unzipPeft(zip)).toHaveLength(8);
    expect(labelOfZip(zip)).toBeNull(); // the card names nothing, and ._README.md is none
  }
});
