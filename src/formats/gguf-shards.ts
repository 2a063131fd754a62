/** A model in several GGUF files (`split.count`), put together as one. Reads no file itself. */

import { LabError } from '../errors.ts';
import { concatBytes } from './bytes.ts';
import type { GgufFile } from './gguf.ts';
import type { ByteSource } from './source.ts';

/** `model-00001-of-00003.gguf` as gguf-split names its files. */
const SHARD_NAME = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** The names of all shards in order, when `name` is that of one; null when it is not. */
export function shardNames(name: string): readonly string[] | null {
  const [, stem, , count] = SHARD_NAME.exec(name) ?? [];
  if (stem === undefined || count === undefined || Number(count) < 2) return null;
  const five = (n: number) => String(n).padStart(5, '0');
  return Array.from({ length: Number(count) }, (_, i) => `${stem}-${five(i + 1)}-of-${count}.gguf`);
}

/** Several files read as one, end to end. A read may cross from one into the next. */
export function joinedSource(parts: readonly ByteSource[]): ByteSource {
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  return {
    name: parts[0]?.name ?? 'no file',
    size,
    parts,
    async read(offset, length) {
      const pieces: Uint8Array[] = [];
      let begin = 0;
      for (const part of parts) {
        const from = Math.max(0, offset - begin);
        const to = Math.min(part.size, offset + length - begin);
        if (from < to) pieces.push(await part.read(from, to - from));
        begin += part.size;
      }
      const [only] = pieces;
      if (pieces.length === 1 && only?.length === length) return only;
      const bytes = concatBytes(pieces);
      if (bytes.length === length) return bytes;
      throw new LabError(
        'bad_input',
        `The files of ${parts[0]?.name} hold ${size} bytes; asked for ${length} at ${offset}. They are cut or damaged; fetch them again.`,
      );
    },
  };
}

interface Shard {
  readonly file: GgufFile;
  readonly source: ByteSource;
  /** Where it begins in the joined source. */
  readonly begin: number;
  /** `split.no`, from 0; null where the file is whole in itself. */
  readonly number: number | null;
  readonly count: number;
}

/**
 * One file from the headers of all; `files[i]` was read from `sources[i]`, which lie end to end.
 * Metadata are those of the first shard; offsets count from the start of all. Throws `bad_input` that
 * names what is missing, given twice, or not of the same model.
 */
export function joinShards(files: readonly GgufFile[], sources: readonly ByteSource[]): GgufFile {
  let begin = 0;
  const shards = files.flatMap((file, i): Shard[] => {
    const source = sources[i];
    if (source === undefined) return [];
    const at = begin;
    begin += source.size;
    return [{ file, source, begin: at, ...placeOf(file) }];
  });
  const [first] = shards;
  if (first === undefined) throw new LabError('bad_input', 'No model file was given.');
  if (shards.length === 1 && first.count === 1) return first.file;
  const ordered = inOrder(shards, first);
  const tensors = ordered.flatMap((shard) =>
    shard.file.tensors.map((tensor) => ({ ...tensor, offset: tensor.offset + shard.begin })),
  );
  checkTensors(tensors, ordered);
  return { ...(ordered[0] ?? first).file, tensors };
}

function placeOf({ metadata }: GgufFile): { number: number | null; count: number } {
  const number = metadata['split.no'];
  const count = metadata['split.count'];
  if (typeof number !== 'number' || typeof count !== 'number' || count < 2) {
    return { number: null, count: 1 };
  }
  return { number, count };
}

function inOrder(shards: readonly Shard[], { count }: Shard): readonly Shard[] {
  const whole = shards.find(({ number }) => number === null);
  if (whole !== undefined) {
    throw new LabError(
      'bad_input',
      `${shards.length} model files were given, but ${whole.source.name} is a whole model by itself. Give one model at a time.`,
    );
  }
  const other = shards.find((shard) => shard.count !== count);
  if (other !== undefined) {
    throw new LabError(
      'bad_input',
      `${other.source.name} is one of ${other.count} files, another given is one of ${count}. Give the files of one model.`,
    );
  }
  const numbers = Array.from({ length: count }, (_, number) => number);
  const missing = numbers.filter((n) => !shards.some(({ number }) => number === n));
  if (missing.length > 0) {
    const names = shards.map(({ source }) => shardNames(source.name)).find((found) => found);
    const shown = missing.map((n) => names?.[n] ?? `file ${n + 1} of ${count}`);
    throw new LabError(
      'bad_input',
      `This model is in ${count} files and ${missing.length} of them ${missing.length === 1 ? 'is' : 'are'} missing: ${shown.join(', ')}. Choose all of them together.`,
      { missing: shown.join(', '), count },
    );
  }
  const ordered = shards.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const twice = ordered.find((shard, i) => shard.number === ordered[i - 1]?.number);
  if (twice === undefined) return ordered;
  throw new LabError(
    'bad_input',
    `File ${(twice.number ?? 0) + 1} of ${count} was given twice (${twice.source.name}). Give each file once.`,
  );
}

function checkTensors(tensors: GgufFile['tensors'], shards: readonly Shard[]): void {
  const seen = new Set<string>();
  for (const { name } of tensors) {
    if (seen.has(name)) {
      throw new LabError(
        'bad_input',
        `The tensor "${name}" is in two of the files. They are not of one model; choose its files again.`,
      );
    }
    seen.add(name);
  }
  const said = shards[0]?.file.metadata['split.tensors.count'];
  if (typeof said === 'number' && said !== tensors.length) {
    throw new LabError(
      'bad_input',
      `The files hold ${tensors.length} tensors, but the first says ${said}. They are not of one model; choose its files again.`,
    );
  }
}
