/** What the engine worker answers about the adapter shelf: its store, over the model in use. */

import { LabError, throwIfAborted, toWire } from '../errors.ts';
import type { AdapterLabel } from '../formats/adapter-label.ts';
import { blobSource } from '../formats/source.ts';
import {
  combineAdapters,
  describeAdapter,
  pruneByNorm,
  scaleAdapter,
} from '../model/adapter-algebra.ts';
import { adapterLabel, openAdapter, saveAdapter } from '../model/adapter-file.ts';
import { compareSides } from '../model/compare.ts';
import { checkFits } from '../model/fit-adapter.ts';
import { mergeAdapter } from '../model/merge.ts';
import type { AdapterData, ShelvedAdapter } from '../records.ts';
import type { Handlers } from '../rpc.ts';
import { pushed } from '../sequences.ts';
import {
  adapterData,
  deleteAdapter,
  getAdapter,
  listAdapters,
  renameAdapter,
  shelveAdapter,
} from '../store/adapters.ts';
import { getRun } from '../store/runs.ts';
import { loadSnapshot } from '../store/snapshots.ts';
import { encodeChat } from '../text/chat.ts';
import { chatTemplateOf } from '../text/template.ts';
import type { AdapterCalls, AdapterStreams, Derivation, SideRef } from './adapters-api.ts';
import type { EngineHost } from './engine.ts';

type Api = { readonly calls: AdapterCalls; readonly streams: AdapterStreams };

export function adapterHandlers(engine: EngineHost): Handlers<Api> {
  /** An adapter of the shelf, once it is known to fit the model in use. */
  const fitting = async (id: string): Promise<AdapterData> => {
    const data = await adapterData(id);
    checkFits(data, engine.loaded.model.config);
    return data;
  };
  const keep = async (
    label: AdapterLabel,
    model: { readonly name: string; readonly sha256: string },
    data: AdapterData,
  ): Promise<ShelvedAdapter> => {
    const { modules, ...facts } = describeAdapter(data);
    const entry: ShelvedAdapter = {
      id: crypto.randomUUID(),
      createdAt: new Date().toISOString(),
      ...{ ...label, modelName: model.name, modelSha256: model.sha256 },
      ...{ modules: modules.length, targets: facts.targets, ranks: facts.ranks },
      ...{ parameters: facts.parameters, norm: facts.norm },
    };
    await shelveAdapter(entry, data);
    return entry;
  };
  const sideOf = async ({ id, strength }: SideRef) => {
    if (id === null) return { label: 'base', adapter: null };
    const { name } = await getAdapter(id);
    const label = strength === 1 ? name : `${name} × ${strength}`;
    return { label, adapter: scaleAdapter(await fitting(id), strength) };
  };
  const derive = async (from: Derivation): Promise<AdapterData> => {
    if (from.kind === 'prune') return pruneByNorm(await adapterData(from.id), from.keep).adapter;
    const summands = [];
    for (const { id, weight } of from.summands) {
      summands.push({ adapter: await adapterData(id), weight });
    }
    return combineAdapters(summands);
  };
  return {
    calls: {
      adapters: () => listAdapters(),
      async openAdapter({ files }) {
        const { model, info } = engine.loaded;
        const sources = files.map((file) => blobSource(file, file.name));
        const data = await openAdapter(sources, model.config);
        return keep((await adapterLabel(sources)) ?? unnoted(nameOf(files)), info, data);
      },
      async shelveRun({ id, name }) {
        const { manifest } = await getRun(id);
        const { adapter } = await loadSnapshot(id, 'latest');
        if (adapter.modules.length === 0) {
          throw new LabError(
            'bad_input',
            "This run has no adapter to keep: its model is on a server, or its method trains none. Keep another run's.",
            { id },
          );
        }
        return keep(
          unnoted(name),
          { name: manifest.modelName, sha256: manifest.modelSha256 },
          adapter,
        );
      },
      async renameAdapter({ id, name, note }) {
        if (name.trim() === '') {
          throw new LabError('bad_input', 'The name is empty; expected at least one character.');
        }
        await renameAdapter(id, name.trim(), note.trim());
        return null;
      },
      async deleteAdapter({ id }) {
        await deleteAdapter(id);
        return null;
      },
      adapterModules: async ({ id }) => describeAdapter(await adapterData(id)).modules,
      async startProblem({ id, settings }) {
        if (engine.info === null) return null; // it is loaded before the run
        const { name } = await getAdapter(id);
        const start = { name, data: await adapterData(id) };
        try {
          engine.checkStart(start, settings);
          return null;
        } catch (thrown) {
          return toWire(thrown).message;
        }
      },
      async deriveAdapter({ name, from }) {
        const [first] = from.kind === 'prune' ? [from.id] : from.summands.map(({ id }) => id);
        const { modelName, modelSha256 } = await getAdapter(first ?? '');
        return keep(unnoted(name), { name: modelName, sha256: modelSha256 }, await derive(from));
      },
      async saveAdapter({ id, form, dtype, strength }) {
        const { name, note } = await getAdapter(id);
        const { model, info } = engine.loaded;
        const data = scaleAdapter(await fitting(id), strength);
        const base = { name: info.name, licence: info.licence, label: { name, note } };
        return {
          name: `${fileNameOf(name)}.${form === 'gguf' ? 'gguf' : 'zip'}`,
          type: form === 'gguf' ? 'application/octet-stream' : 'application/zip',
          bytes: saveAdapter(data, form, dtype, model.config, base),
        };
      },
    },
    streams: {
      async *compareAdapters({ messages, sides, maxTokens, temperature, seed }, signal) {
        using _ = engine.hold();
        const { model, tokenizer, gguf } = engine.loaded;
        const template = chatTemplateOf(gguf.metadata);
        const options = { addGenerationPrompt: true };
        const { ids } = encodeChat(tokenizer, template, messages, options);
        const opened = await Promise.all(sides.map(sideOf));
        return yield* pushed((push) =>
          compareSides(model, tokenizer, ids, opened, {
            ...{ maxTokens, temperature, seed, signal },
            onProgress: (done, total) => push({ done, total }),
          }),
        );
      },
      async *mergeAdapter({ id, strength, type }, signal) {
        const { gguf, file, info } = engine.loaded;
        const { name } = await getAdapter(id);
        const data = scaleAdapter(await fitting(id), strength);
        const parts: BlobPart[] = [];
        const work = mergeAdapter(gguf, file.source, data, type, signal);
        for (let bytes = 0; ; ) {
          const next = await work.next();
          throwIfAborted(signal);
          if (next.done) {
            const whole = `${fileNameOf(info.name)}-${fileNameOf(name)}-${type.toLowerCase()}.gguf`;
            return { name: whole, file: new Blob(parts), report: next.value };
          }
          parts.push(Uint8Array.from(next.value));
          bytes += next.value.length;
          yield { bytes };
        }
      },
    },
  };
}

/** The file's name without its ending; a folder's files say nothing, since PEFT gives all the same names. */
function nameOf(files: readonly File[]): string {
  const [file, second] = files;
  return file === undefined || second ? 'adapter' : file.name.replace(/\.(zip|gguf)$/i, '');
}

/** A name that every file system takes. */
function fileNameOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9._]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'adapter'
  );
}

function unnoted(name: string): AdapterLabel {
  return { name, note: '' };
}
