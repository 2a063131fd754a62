// Side by side on one GGUF file, prompt and machine: this engine (WASM and WebGPU, in a headless Chromium
// and in Node), wllama, tfjs's own ops, and for training PyTorch with PEFT where a Python has them.
//
//   npm run bench -- --model FILE.gguf [--prompt 256] [--decode 64] [--train 0] [--repeats 3]
//                    [--steps 0] [--only engine-wasm,wllama-wasm,…] [--hardware] [--python PATH] [--out bench.json]
//
// --hardware: this machine's GPU in place of Chromium's software adapter. --python: with --train, also an
// update by PyTorch and PEFT, on one thread and on two. A name that ends in -2 computes on two threads, the
// other names of WASM on one. What cannot run here says so in one line and is left out.
// Every contestant is loaded once; then all are measured in turn, `repeats` times after one round that
// does not count, so that a machine whose speed drifts treats them alike. stdout: a table of medians.

import { fork, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  createReadStream,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { build } from 'vite';
import { browserPath, launchArgs } from '../browser.mjs';
import { common } from '../build-cli.mjs';

const root = resolve(import.meta.dirname, '../..');
const { values: asked } = parseArgs({
  options: {
    model: { type: 'string' },
    prompt: { type: 'string', default: '256' },
    decode: { type: 'string', default: '64' },
    train: { type: 'string', default: '0' },
    steps: { type: 'string', default: '0' },
    repeats: { type: 'string', default: '3' },
    only: { type: 'string' },
    hardware: { type: 'boolean', default: false },
    python: { type: 'string' },
    out: { type: 'string', default: 'bench.json' },
  },
});
const ALL = [
  'engine-wasm-node',
  'engine-wasm-node-2',
  'engine-wasm',
  'engine-wasm-2',
  'engine-webgpu',
  'engine-webgpu-node',
  'bare-webgpu',
  'stock-wasm',
  'stock-webgpu',
  'wllama-wasm',
  'wllama-wasm-2',
  'wllama-webgpu',
];
const names = asked.only ? asked.only.split(',') : ALL;
const unknown = names.find((name) => !ALL.includes(name));
if (!asked.model || unknown) {
  console.error(
    unknown ? `"${unknown}" is not one of ${ALL.join(', ')}.` : 'Name a GGUF file with --model.',
  );
  process.exit(2);
}
const model = resolve(asked.model);
const work = {
  prompt: Number(asked.prompt),
  decode: Number(asked.decode),
  train: Number(asked.train),
  steps: Number(asked.steps),
};
const types = { '.js': 'text/javascript', '.wasm': 'application/wasm' };

/** Bundles the page and the Node contestant into a folder of its own. */
async function bundle() {
  const folder = mkdtempSync(join(root, 'node_modules', '.bench-'));
  await build({
    ...common,
    define: { __dirname: 'import.meta.dirname' },
    build: {
      ssr: 'scripts/bench/node.ts',
      outDir: folder,
      target: 'node20',
      minify: false,
      rollupOptions: { external: ['webgpu'], output: { entryFileNames: 'node.mjs' } },
    },
    ssr: { noExternal: true, external: ['webgpu'] }, // its native part lies beside it
  });
  await build({
    ...common,
    base: './',
    build: {
      lib: { entry: 'scripts/bench/page.ts', formats: ['es'], fileName: () => 'page.js' },
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      minify: false,
    },
  });
  const { resolve: find } = createRequire(import.meta.url);
  for (const flavour of ['', '-simd', '-threaded-simd']) {
    const file = `tfjs-backend-wasm${flavour}.wasm`;
    copyFileSync(find(`@tensorflow/tfjs-backend-wasm/dist/${file}`), join(folder, file));
  }
  const wllama = join(root, 'node_modules/@wllama/wllama/esm/wasm/wllama.wasm');
  copyFileSync(wllama, join(folder, 'wllama.wasm'));
  return folder;
}

/** The page, its scripts and the model, on a free port of this machine, isolated so that threads may run. */
async function serve(folder) {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://localhost').pathname;
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('cross-origin-embedder-policy', 'require-corp');
    if (path === '/') {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><script type="module" src="./page.js"></script>');
    } else if (path === '/model') {
      response.setHeader('content-length', statSync(model).size);
      createReadStream(model).pipe(response);
    } else {
      response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream');
      const bytes = await readFile(join(folder, path)).catch(() => null);
      if (bytes === null) response.statusCode = 404;
      response.end(bytes ?? '');
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

/** A contestant in a page of its own browser. */
async function openPage(name, port) {
  const args = asked.hardware
    ? ['--no-sandbox', '--enable-unsafe-webgpu', '--enable-features=Vulkan']
    : launchArgs;
  const browser = await chromium.launch({ executablePath: browserPath(), args });
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForFunction(() => 'benchOpen' in window);
  return {
    device: await page.evaluate((each) => window.benchOpen(each), name),
    measure: (what) => page.evaluate((each) => window.benchMeasure(each), what),
    close: () => browser.close(),
  };
}

/** A contestant in a process of its own. */
async function openNode(name, folder) {
  const child = fork(join(folder, 'node.mjs'), [model, folder, name]);
  const answer = () =>
    new Promise((done, fail) => {
      child.once('message', (sent) => (sent.failed ? fail(new Error(sent.failed)) : done(sent)));
      child.once('exit', (code, signal) =>
        fail(new Error(`its process ended with ${signal ?? `code ${code}`}.`)),
      );
    });
  return {
    device: `Node ${process.version}, ${await answer()}`,
    measure: (what) => {
      child.send(what);
      return answer();
    },
    close: () => child.kill(),
  };
}

const firstLine = (error) =>
  error.message.replace(/^page\.evaluate: (Error: )?/, '').split('\n')[0];

function median(numbers) {
  const known = numbers.filter((n) => typeof n === 'number' && !Number.isNaN(n));
  if (known.length === 0) return null;
  known.sort((a, b) => a - b);
  const half = known.length >> 1;
  return known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
}

/** Seconds of one update by PyTorch and PEFT; null without such a Python. */
function torchSeconds(threads) {
  if (!asked.python) return null;
  if (work.train === 0) {
    console.error(
      '--python measures an update: name its tokens with --train, such as --train 256.',
    );
    return null;
  }
  const script = join(import.meta.dirname, 'torch_update.py');
  const given = [
    script,
    model,
    String(work.train),
    String(threads),
    String(Number(asked.repeats) + 1),
  ];
  const { stdout, stderr, status, error } = spawnSync(asked.python, given, { encoding: 'utf8' });
  if (status === 0) return median(stdout.trim().split('\n').slice(1).map(Number));
  const why = error ? error.message : (stderr.trim().split('\n').at(-1) ?? `code ${status}`);
  console.error(
    `--python ${asked.python} measured nothing: ${why}. It needs torch, transformers, peft and gguf.`,
  );
  return null;
}

const folder = await bundle();
const server = await serve(folder);
const opened = new Map();
const rounds = new Map(names.map((name) => [name, []]));
try {
  for (const name of names) {
    try {
      const { port } = server.address();
      opened.set(
        name,
        name.includes('-node') ? await openNode(name, folder) : await openPage(name, port),
      );
      const { device } = opened.get(name);
      console.error(`${name}: ${device}`);
      if (asked.hardware && /swiftshader|llvmpipe/i.test(device)) {
        console.error(
          '--hardware: this machine has no GPU that Chromium can use; that is a CPU in its place.',
        );
      }
    } catch (error) {
      console.error(`${name} did not start: ${firstLine(error)}`);
    }
  }
  for (let round = 0; round <= Number(asked.repeats); round++) {
    for (const [name, { measure, close }] of opened) {
      try {
        const measured = await measure(work);
        if (round > 0) rounds.get(name).push(measured);
        console.error(`round ${round}, ${name}: ${JSON.stringify(measured)}`);
      } catch (error) {
        console.error(`${name} is left out from round ${round} on: ${firstLine(error)}`);
        opened.delete(name);
        await close();
      }
    }
  }
} finally {
  for (const { close } of opened.values()) await close();
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

const figures = [
  'prefillPerSecond',
  'decodePerSecond',
  'decodePerProcessorSecond',
  'updateSeconds',
  'firstStepSeconds',
  'lastStepSeconds',
  'dispatchesPerToken',
  'submitsPerToken',
  'gpuBytes',
  'heapBytes',
  'readBytesPerToken',
  'leastBytesPerToken',
];
const results = [...opened].map(([name, { device }]) => ({
  name,
  device,
  ...Object.fromEntries(figures.map((f) => [f, median(rounds.get(name).map((r) => r[f]))])),
}));
const torchUpdateSeconds = { 1: torchSeconds(1), 2: torchSeconds(2) };
const report = {
  date: new Date().toISOString(),
  machine: { processor: cpus()[0]?.model ?? 'unknown', cores: cpus().length },
  model: { file: model, bytes: statSync(model).size },
  work,
  repeats: Number(asked.repeats),
  results,
  torchUpdateSeconds,
  rounds: Object.fromEntries(rounds),
};
writeFileSync(asked.out, `${JSON.stringify(report, null, 2)}\n`);

/** This engine as it should be held against each contestant: on the same backend, in a page where both run there. */
const RIVALS = {
  'bare-webgpu': 'engine-webgpu',
  'stock-wasm': 'engine-wasm',
  'stock-webgpu': 'engine-webgpu',
  'wllama-wasm': 'engine-wasm',
  'wllama-wasm-2': 'engine-wasm-2',
  'wllama-webgpu': 'engine-webgpu',
};
const byName = new Map(results.map((result) => [result.name, result]));
const shown = (n, digits = 1) => (n === null ? '' : n.toFixed(digits));
const megabytes = (n) => (n === null ? '' : shown(n / 1e6));
const ratio = (mine, other) => (mine && other ? `${(mine / other).toFixed(2)}x` : '');
console.log(`${work.prompt} tokens read, ${work.decode} decoded; medians of ${asked.repeats}`);
console.table(
  Object.fromEntries(
    results.map((r) => {
      const ours = byName.get(RIVALS[r.name]);
      return [
        r.name,
        {
          'prefill tok/s': shown(r.prefillPerSecond),
          'decode tok/s': shown(r.decodePerSecond),
          'decode tok/processor s': shown(r.decodePerProcessorSecond),
          's an update': shown(r.updateSeconds, 2),
          'our engine, prefill': ratio(ours?.prefillPerSecond, r.prefillPerSecond),
          'our engine, decode': ratio(ours?.decodePerSecond, r.decodePerSecond),
          'our engine, update': ratio(r.updateSeconds, ours?.updateSeconds),
          's first step': shown(r.firstStepSeconds, 3),
          's last step': shown(r.lastStepSeconds, 3),
          'dispatches a token': shown(r.dispatchesPerToken),
          'submits a token': shown(r.submitsPerToken),
          'GPU MB': megabytes(r.gpuBytes),
          'heap MB': megabytes(r.heapBytes),
          'MB read a token': megabytes(r.readBytesPerToken),
          'least MB a token': megabytes(r.leastBytesPerToken),
        },
      ];
    }),
  ),
);
for (const { name, device } of results) console.log(`${name}: ${device}`);
for (const [threads, seconds] of Object.entries(torchUpdateSeconds)) {
  if (seconds === null) continue;
  const ours = byName.get(threads === '2' ? 'engine-wasm-2' : 'engine-wasm')?.updateSeconds;
  console.log(
    `PyTorch and PEFT, threads: ${threads}: ${seconds.toFixed(2)} s an update; our engine takes ${ratio(ours, seconds) || '?'} as long`,
  );
}
console.log(`Written to ${asked.out}`);
