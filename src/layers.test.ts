import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** The layers that running an episode takes. */
const loop = ['train', 'train/methods', 'model', 'text', 'store', 'envs', 'formats', 'math'];

/** What a layer may import besides itself and the root files of src/ that no layer owns. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  math: [],
  formats: ['math'],
  envs: ['math'],
  text: ['formats', 'math'],
  store: ['formats', 'math'],
  model: ['formats', 'text', 'math'],
  remote: ['text', 'formats', 'math'],
  'train/methods': ['math'],
  train: ['train/methods', 'model', 'text', 'math'],
  experiment: ['train/methods', 'formats', 'math'],
  workers: ['remote', ...loop],
  cli: ['experiment', 'workers', ...loop],
  ui: ['experiment', 'store', 'formats', 'math'],
};

interface Import {
  readonly file: string;
  readonly from: string;
  /** Erased by the compiler. */
  readonly typeOnly: boolean;
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file));
const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = readFileSync(join('src', file), 'utf8');
  const statements = text.matchAll(
    /^(?:import|export)\b([^'";]*?)from\s+'([^']+)'|^import\s+'([^']+)'/gm,
  );
  const calls = text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g);
  return [
    ...[...statements].map(([, clause = '', from, bare]) => ({
      file,
      from: from ?? bare ?? '',
      typeOnly: /^\s+type\b/.test(clause),
    })),
    ...[...calls].map(([, from = '']) => ({ file, from, typeOnly: false })),
  ];
}

/** What the methods say of themselves is a layer of its own: plans read it, and load no engine for it. */
const layerOf = (file: string) => {
  if (/^train\/methods(\/|\.ts$)/.test(file)) return 'train/methods';
  return file.includes('/') ? (file.split('/')[0] ?? '') : '';
};
const isTest = (file: string) => /\.test\.tsx?$/.test(file) || /\/testing/.test(file);
const shown = ({ file, from }: Import) => `${file} imports ${from}`;

test('every layer is known', () => {
  const unknown = files.map(layerOf).filter((layer) => layer !== '' && !(layer in mayImport));
  expect(unknown).toEqual([]);
});

test('a layer imports only what lies below it', () => {
  const wrong = imports.filter(({ file, from, typeOnly }) => {
    const layer = layerOf(file);
    if (!from.startsWith('.') || layer === '' || isTest(file)) return false;
    const target = relative('src', join('src', dirname(file), from)).replaceAll('\\', '/');
    const other = layerOf(target);
    if (other === '' || other === layer || target.startsWith('..')) return false;
    if (layer === 'ui' && other === 'workers') return !typeOnly && !target.endsWith('.worker.ts');
    return !mayImport[layer]?.includes(other);
  });
  expect(wrong.map(shown)).toEqual([]);
});

test('no files load each other in a circle', () => {
  const loads = imports.filter(({ from, typeOnly }) => from.startsWith('.') && !typeOnly);
  const targetOf = ({ file, from }: Import) => join(dirname(file), from).replaceAll('\\', '/');
  let left = new Set(files);
  // What loads nothing that is left goes, until there is no such file.
  for (let before = 0; left.size !== before; ) {
    before = left.size;
    left = new Set(loads.filter((one) => left.has(targetOf(one))).map(({ file }) => file));
  }
  expect([...left]).toEqual([]);
});

test('tfjs is imported only in model and train, React only in ui', () => {
  const wrong = imports.filter(({ file, from }) => {
    const layer = layerOf(file);
    // A test may count the tensors that it is about; a file's address is none of its code.
    if (isTest(file) || from.endsWith('?url')) return false;
    if (from.startsWith('@tensorflow/')) return !['model', 'train'].includes(layer);
    if (/^(react|react-dom|recharts)(\/|$)/.test(from)) return layer !== 'ui';
    return false;
  });
  expect(wrong.map(shown)).toEqual([]);
});

test('no file is imported without its ending', () => {
  const bare = imports.filter(({ from }) => from.startsWith('.') && !/\.\w+(\?\w+)?$/.test(from));
  expect(bare.map(shown)).toEqual([]);
});
