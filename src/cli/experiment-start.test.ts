/** Experiments whose episodes start from adapters: what the file names, the header keeps, and a resumption refuses. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { adapterSha256 } from '../formats/adapter-hash.ts';
import { readGguf } from '../formats/gguf.ts';
import { bytesSource } from '../formats/source.ts';
import { deriveRng } from '../math/rng.ts';
import { saveAdapter } from '../model/adapter-file.ts';
import { type LlamaConfig, projectionShape, readLlamaConfig } from '../model/llama-config.ts';
import { freshAdapter } from '../model/lora.ts';
import type { AdapterData } from '../records.ts';
import { showPlan } from './experiment.ts';
import { attt } from './testing.ts';
import { randomPolicy } from './testing-policy.ts';
import { scratchFolder } from './testing-scratch.ts';

const folder = scratchFolder();
const model = join(folder, 'random.gguf');
const head = `
name = "starts"
env = "household"
split = "valid_unseen"
tasks = "0"
seeds = [3]
methods = ["frozen", "attt"]
`;
const settings = `
[settings]
max_tokens = 8
step_limit = 2
lora_rank = 2
lora_alpha = 4
target_modules = ["q_proj", "v_proj"]
update_interval_k = 2
min_steps_before_first_update = 2
`;
let config: LlamaConfig;

beforeAll(async () => {
  const policy = randomPolicy(1);
  writeFileSync(model, policy);
  config = readLlamaConfig(await readGguf(bytesSource(policy, 'policy')));
});

/** An adapter that changes something, beside the experiment's file. */
function keep(name: string, seed: number, rank = 2): AdapterData {
  const shape = { rank, alpha: 4, targets: ['q_proj', 'v_proj'] } as const;
  const rng = deriveRng(seed);
  const fresh = freshAdapter(shape, config.layers, (t) => projectionShape(config, t), rng);
  const modules = fresh.modules.map((m) => ({ ...m, bT: m.bT.map(() => rng.next() - 0.5) }));
  const card = { name: 'random', licence: null, label: { name: `named ${name}`, note: '' } };
  writeFileSync(join(folder, name), saveAdapter({ modules }, 'peft', 'F32', config, card));
  return { modules };
}

function run(out: string, text: string, ...more: readonly string[]) {
  const file = join(folder, `${out}.toml`);
  writeFileSync(file, text);
  return attt('experiment', file, '--model', model, '--out', join(folder, out), ...more);
}
const read = (out: string, file: string) => readFileSync(join(folder, out, file), 'utf8');

test('every arm starts where the file says, by the content that its header names', async () => {
  const [start, other] = [keep('start.zip', 1), keep('other.zip', 2)];
  const sweep = '[[sweep]]\nmethod = "attt"\nadapter = "other.zip"\n';
  const text = `${head}${settings}adapter = "start.zip"\n${sweep}`;
  const ran = await run('whole', text);
  expect(JSON.parse(ran.stdout)).toEqual({ planned: 3, finished: 3, errors: 0 });
  const starts = JSON.parse(read('whole', 'experiment.json')).arms.map(
    (arm: { name: string; startAdapter: unknown }) => [arm.name, arm.startAdapter],
  );
  const one = { name: 'named start.zip', sha256: await adapterSha256(start) };
  const two = { name: 'named other.zip', sha256: await adapterSha256(other) };
  expect(starts).toEqual([
    ['frozen', one],
    ['attt', one],
    ['attt adapter=other.zip', two],
  ]);
  const rows = read('whole', 'rows-1-of-1.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const bases = rows.map(({ arm, updates, retention }) => [arm, updates, retention?.texts.base]);
  expect(bases).toEqual([
    ['frozen', 0, undefined],
    ['attt', 1, expect.any(Number)],
    ['attt adapter=other.zip', 1, expect.any(Number)],
  ]);
  expect(bases[1]?.[2]).not.toBe(bases[2]?.[2]);

  keep('start.zip', 5); // another adapter under the same name
  const again = await run('whole', text);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain(`what frozen starts from: "${one.sha256}" and "`);
  await run('changed', text, '--arm', 'frozen');
  const merged = ['whole', 'changed'].map((out) => join(folder, out));
  const refused = await attt('experiment', 'merge', ...merged, '--out', join(folder, 'merged'));
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('what attt starts from');
}, 120_000);

test('an adapter that is not there, or that an arm cannot train, is refused before anything runs', async () => {
  keep('large.zip', 1, 4);
  const refusal = (adapter: string) => {
    const file = join(folder, 'refused.toml');
    writeFileSync(file, `${head}${settings}adapter = "${adapter}"\n`);
    return expect(showPlan(file, { model, backend: 'wasm' })).rejects;
  };
  await refusal('gone.zip').toThrow(`Could not read ${join(folder, 'gone.zip')}`);
  await refusal('large.zip').toThrow(
    '"named large.zip" has rank 4, alpha 4 on q_proj, v_proj; the',
  );
});
