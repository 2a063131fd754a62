/** `attt adapter`: describes, converts, merges, compares, prunes, subtracts and mixes adapters. */

import { open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Command, Option } from 'commander';
import { defaultSettings } from '../config.ts';
import { type AdapterDtype, adapterDtypes } from '../formats/adapter-dtype.ts';
import { type GgufFile, metadataText, readGguf } from '../formats/gguf.ts';
import { type BaseModel, writePeft } from '../formats/peft.ts';
import {
  combineAdapters,
  describeAdapter,
  pruneByNorm,
  scaleAdapter,
} from '../model/adapter-algebra.ts';
import { adapterLabel, openAdapter, saveAdapter } from '../model/adapter-file.ts';
import { type LlamaConfig, readLlamaConfig } from '../model/llama-config.ts';
import { toHf } from '../model/lora-hf.ts';
import { type MergeReport, type MergeType, mergeAdapter, mergeTypes } from '../model/merge.ts';
import type { AdapterData, Json } from '../records.ts';
import { finish } from '../sequences.ts';
import { adapterSources, readAdapter } from './adapters.ts';
import { type FileSource, openModel, readJson } from './files.ts';
import { makeFolder } from './folders.ts';
import { runOnHost } from './host.ts';
import { readMessages } from './messages.ts';
import {
  backendOption,
  finite,
  integer,
  modelOption,
  nonNegative,
  threadsOption,
} from './options.ts';
import { note, printJson, WrongUse } from './output.ts';

export function adapterCommand(): Command {
  const group = new Command('adapter')
    .description('work with LoRA adapters: PEFT folders, zips of them, and GGUF files')
    .exitOverride();
  const command = (words: string, description: string) =>
    group.command(words).description(description).addOption(modelOption());

  command('info <adapter>', 'its modules with ranks, scales and norms').action(
    async (path, { model }) => {
      await using base = await openBase(model);
      const label = await adapterLabel(await adapterSources(path));
      await printJson({ ...(label && { ...label }), ...infoOf(await base.adapter(path)) });
    },
  );

  writing(command('convert <adapter>', 'to PEFT or GGUF, by the name of --out')).action(
    async (path, { model, ...where }) => {
      await using base = await openBase(model);
      const label = await adapterLabel(await adapterSources(path));
      await printJson(await save(await base.adapter(path), base, { ...label, ...where }));
    },
  );

  command('merge <adapter>', 'into its base; the sum as a GGUF, with what the format cost')
    .requiredOption('--out <file>', 'the merged model, .gguf')
    .addOption(
      new Option('--type <type>', 'of the matrices').choices(mergeTypes).makeOptionMandatory(),
    )
    .option('--strength <s>', 'of the adapter', finite('--strength'), 1)
    .action(async (path, { model, out, type, strength }) => {
      await using base = await openBase(model);
      await printJson(
        await merge(scaleAdapter(await base.adapter(path), strength), base, out, type),
      );
    });

  command('compare [adapter]', 'one prompt with the adapter on and off, or beside others')
    .requiredOption('--messages <file>', 'a list of {"role", "content"}, JSON')
    .option('--against <adapter...>', 'further adapters', [])
    .option('--strength <s>', 'of all of them', finite('--strength'), 1)
    .option('--max-tokens <n>', 'the most tokens to sample', integer('--max-tokens', 1), 64)
    .option('--temperature <t>', '0 takes the most likely', nonNegative('--temperature'), 0)
    .option('--seed <n>', 'of the sampling', integer('--seed', 0), defaultSettings.seed)
    .addOption(backendOption())
    .addOption(threadsOption())
    .action(
      async (path, { messages: file, against, strength, backend, threads, model, ...sampling }) => {
        const messages = readMessages(await readJson(file), file);
        const paths: string[] = path === undefined ? against : [path, ...against];
        const sides = [{ label: 'base', strength: 1, adapter: await readAdapter(undefined) }];
        for (const each of paths) {
          sides.push({ label: each, strength, adapter: await readAdapter(each) });
        }
        const job = { kind: 'compare', messages, sides, ...sampling } as const;
        await printJson(await runOnHost(job, { model, backend, threads }));
      },
    );

  writing(command('prune <adapter>', 'keeps the modules of the largest norms'))
    .requiredOption('--keep <part>', 'of the modules, more than 0 and at most 1', finite('--keep'))
    .action(async (path, { model, keep, ...where }) => {
      await using base = await openBase(model);
      const { adapter, removed, keptNorm } = pruneByNorm(await base.adapter(path), keep);
      const saved = await save(adapter, base, where);
      await printJson({ ...saved, removed, kept_norm: keptNorm });
    });

  writing(command('diff <one> <other>', 'one minus other; ranks add')).action(
    async (one, other, { model, ...where }) => {
      await using base = await openBase(model);
      await printJson(await save(await sum(base, [one, 1], [other, -1]), base, where));
    },
  );

  writing(command('mix <one> <other>', '(1 - t) of one and t of the other; ranks add'))
    .requiredOption('--t <t>', '0 is the one, 1 the other', finite('--t'))
    .action(async (one, other, { model, t, ...where }) => {
      await using base = await openBase(model);
      await printJson(await save(await sum(base, [one, 1 - t], [other, t]), base, where));
    });
  return group;
}

/** What every command that writes an adapter is told. */
interface Writing {
  readonly out: string;
  readonly dtype: AdapterDtype;
  /** Into the file: its name there, and a note. */
  readonly name?: string;
  readonly note?: string;
}

/** Their options. */
function writing(command: Command): Command {
  return command
    .requiredOption('--out <path>', 'x.gguf for llama.cpp, x.zip or a folder for PEFT')
    .addOption(new Option('--dtype <type>', 'of the tensors').choices(adapterDtypes).default('F32'))
    .option('--name <name>', 'what the file calls the adapter (convert keeps what it had)')
    .option('--note <text>', 'what the file notes of it');
}

/** The model that adapters are of; only its header is read. */
interface Base extends AsyncDisposable {
  readonly source: FileSource;
  readonly gguf: GgufFile;
  readonly config: LlamaConfig;
  readonly card: BaseModel;
  adapter(path: string): Promise<AdapterData>;
}

async function openBase(model: string): Promise<Base> {
  const source = await openModel(model);
  try {
    const gguf = await readGguf(source);
    const config = readLlamaConfig(gguf);
    const { metadata } = gguf;
    return {
      source,
      gguf,
      config,
      card: {
        name: metadataText(metadata, 'general.name') ?? source.name,
        licence: metadataText(metadata, 'general.license'),
      },
      adapter: async (path) => openAdapter(await adapterSources(path), config),
      [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
    };
  } catch (thrown) {
    await source[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function sum(base: Base, ...parts: [path: string, weight: number][]): Promise<AdapterData> {
  const summands = [];
  for (const [path, weight] of parts) summands.push({ adapter: await base.adapter(path), weight });
  return combineAdapters(summands);
}

function infoOf(adapter: AdapterData) {
  const { modules, ...whole } = describeAdapter(adapter);
  return { ...whole, modules: modules.map((module) => ({ ...module })) };
}

/** Writes the adapter in the form that the name asks for, and says what was written. */
async function save(
  adapter: AdapterData,
  { config, card: plain }: Base,
  { out, dtype, name = '', note: noted = '' }: Writing,
) {
  const label = { name: name || basename(out).replace(/\.(gguf|zip)$/, ''), note: noted };
  const card = { ...plain, label };
  if (out.endsWith('.gguf') || out.endsWith('.zip')) {
    const form = out.endsWith('.gguf') ? 'gguf' : 'peft';
    await makeFolder(dirname(out));
    await writeFile(out, saveAdapter(adapter, form, dtype, config, card));
  } else {
    await makeFolder(out);
    for (const [name, bytes] of Object.entries(writePeft(toHf(adapter, config), card, dtype))) {
      await writeFile(join(out, name), bytes);
    }
  }
  return { out, dtype, ...label, ...infoOf(adapter) };
}

/** Writes beside the final name first: a merge that fails leaves no half model under it. */
async function merge(
  adapter: AdapterData,
  base: Base,
  out: string,
  type: MergeType,
): Promise<Json> {
  if (!out.endsWith('.gguf'))
    throw new WrongUse(`--out ${out} was given; expected a name in .gguf.`);
  await makeFolder(dirname(out));
  const aside = `${out}.part`;
  const file = await open(aside, 'w');
  let report: MergeReport;
  try {
    const parts = mergeAdapter(base.gguf, base.source, adapter, type);
    report = await finish(parts, (part) => file.write(part));
    await file.close();
    await rename(aside, out);
  } catch (thrown) {
    await file.close();
    await rm(aside, { force: true });
    throw thrown;
  }
  note(`Wrote ${basename(out)}: ${report.bytes} bytes.`);
  const { errorShare, tensors, converted, ...whole } = report;
  return {
    ...{ out, ...whole, error_share: errorShare, converted: { ...converted } },
    tensors: tensors.map((tensor) => ({ ...tensor })),
  };
}
