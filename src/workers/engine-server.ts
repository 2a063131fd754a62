/** What the engine worker answers: the handlers of its API over an engine, a world host and the stores. */

import { LabError } from '../errors.ts';
import { readGguf } from '../formats/gguf.ts';
import { joinedSource } from '../formats/gguf-shards.ts';
import { zipPeft } from '../formats/peft.ts';
import { type ByteSource, blobSource, urlSource } from '../formats/source.ts';
import { toHf } from '../model/lora-hf.ts';
import type { LoadProgress, ModelRef } from '../records.ts';
import { probeSummaries } from '../remote/served-summaries.ts';
import type { Handlers } from '../rpc.ts';
import { pushed } from '../sequences.ts';
import {
  bundledModelUrl,
  deleteAllModels,
  deleteModel,
  fetchModel,
  keptModel,
  listModels,
  sha256Of,
} from '../store/models.ts';
import { deleteRun, getRun, listRuns, runEvents } from '../store/runs.ts';
import { loadSnapshot, snapshotSizes } from '../store/snapshots.ts';
import { withMethod } from '../train/methods.ts';
import { adapterHandlers } from './adapters-server.ts';
import type { EngineApi } from './api.ts';
import type { EngineHost, ModelFile } from './engine.ts';
import type { EnvHost } from './env-host.ts';
import { exportNotebook, importNotebook } from './notebook.ts';
import { previewModel } from './preview.ts';
import { bundleRun, rowOrderOf } from './run-bundle.ts';
import { EpisodeRunner } from './runner.ts';

/** Two workers with worlds: what a person asks never waits behind, delays or ends the world of an episode. */
export interface Worlds {
  readonly episodes: Pick<EnvHost, 'call'>;
  readonly questions: Pick<EnvHost, 'call'>;
}

/** Answers of the worker for questions: descriptions, task lists, dropped files, parts of recorded episodes. */
const listLimit = { limitMs: 20_000, what: 'a question about its tasks' };

/** `base` is the page's address: bundled models lie relative to it. */
export function engineHandlers(
  engine: EngineHost,
  { episodes, questions }: Worlds,
  base: string,
): Handlers<EngineApi> {
  const runner = new EpisodeRunner(engine, episodes);
  const adapters = adapterHandlers(engine);
  return {
    calls: {
      ...adapters.calls,
      probe({ backend, kernels, threads }) {
        if (backend) engine.prefer(backend);
        if (threads) engine.preferThreads(threads);
        if (kernels) engine.preferKernels(kernels);
        return engine.capabilities();
      },
      environments: () => questions.call('describe', null, listLimit),
      tasks: (input) => questions.call('tasks', input, listLimit),
      worldHistory: (input) => questions.call('history', input, listLimit),
      worldPatch: (input) => questions.call('patch', input, listLimit),
      openTask: (input) => questions.call('openTask', input, listLimit),
      models: () => listModels(),
      async deleteModel({ key }) {
        await deleteModel(key);
        return null;
      },
      async deleteAllModels() {
        await deleteAllModels();
        return null;
      },
      async previewModel({ ref, settings }, signal) {
        const { backend } = await engine.capabilities();
        if (!ref) {
          const { gguf, file } = engine.loaded;
          return previewModel(gguf, file.source.name, settings, backend, deviceGiB());
        }
        const source = await headerSource(ref, base, signal);
        return previewModel(await readGguf(source), source.name, settings, backend, deviceGiB());
      },
      connectModel: (ref, signal) => engine.connect(ref, signal),
      async probeSummaries(ref, signal) {
        await probeSummaries(ref, signal);
        return null;
      },
      loadedModel: () => engine.info,
      settle: async (asked) => asked.map(withMethod),
      runs: () => listRuns(),
      runEvents: ({ id }) => runEvents(id),
      snapshotSizes: () => snapshotSizes(),
      async deleteRun({ id }) {
        if (runner.isRunning(id)) {
          throw new LabError(
            'bad_input',
            'This run is in progress. Stop it first, then delete it.',
            { id },
          );
        }
        await deleteRun(id);
        return null;
      },
      control({ id, command }) {
        runner.control(id, command);
        return null;
      },
      async exportAdapter({ id }) {
        const { manifest } = await getRun(id);
        const { adapter } = await loadSnapshot(id, 'latest');
        return {
          name: `${id}-adapter.zip`,
          type: 'application/zip',
          bytes: zipPeft(toHf(adapter, rowOrderOf(adapter, manifest)), {
            name: manifest.modelName,
            licence: null,
          }),
        };
      },
      async exportBundle({ id }) {
        const { createdAt, manifest } = await getRun(id);
        const events = await runEvents(id);
        const kept = async () => ({
          start: await loadSnapshot(id, 'start'),
          latest: await loadSnapshot(id, 'latest').catch(() => loadSnapshot(id, 'start')),
        });
        // A run that ended before its first boundary is as it began; one without a start has none.
        const snapshots = await kept().catch(() => null);
        const bytes = await bundleRun({ id, createdAt, manifest, events, snapshots });
        return { name: `${id}.attt.zip`, type: 'application/zip', bytes };
      },
      exportNotebook: () => exportNotebook(),
      importNotebook: ({ name, file }) => importNotebook(name, file),
      async exportRun({ id }) {
        const lines = (await runEvents(id)).map((event) => JSON.stringify(event));
        return {
          name: `${id}.jsonl`,
          type: 'application/jsonl',
          bytes: new TextEncoder().encode(`${lines.join('\n')}\n`),
        };
      },
    },
    streams: {
      ...adapters.streams,
      loadModel: ({ ref, contextLength }, signal) =>
        pushed(async (push) => {
          const file = await openModel(ref, base, signal, push);
          return engine.load(file, contextLength, signal, push);
        }),
      run: (input, left) => runner.start(input, left),
      resume: (input, left) => runner.resume(input, left),
      fork: (input, left) => runner.fork(input, left),
    },
  };
}

/** `navigator.deviceMemory`, which not every browser has. */
function deviceGiB(): number | null {
  const found: unknown = Reflect.get(navigator, 'deviceMemory');
  return typeof found === 'number' ? found : null;
}

/** Where the header of a model can be read without fetching the rest. */
async function headerSource(ref: ModelRef, base: string, signal: AbortSignal): Promise<ByteSource> {
  switch (ref.kind) {
    case 'bundled':
      return urlSource(bundledModelUrl(ref.name, base), signal);
    case 'url':
    case 'cached': {
      const url = ref.kind === 'url' ? ref.url : ref.key;
      const kept = await keptModel(url);
      return kept ? blobSource(kept, url) : urlSource(url, signal);
    }
    case 'file':
      return filesSource(ref);
    default:
      return ref satisfies never;
  }
}

/** One file, or several as one. */
function filesSource({ file, parts }: Extract<ModelRef, { readonly kind: 'file' }>): ByteSource {
  const first = blobSource(file, file.name);
  return parts ? joinedSource([first, ...parts.map((part) => blobSource(part, part.name))]) : first;
}

async function openModel(
  ref: ModelRef,
  base: string,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
): Promise<ModelFile> {
  switch (ref.kind) {
    case 'bundled': {
      const { blob, name, sha256 } = await fetchModel(
        bundledModelUrl(ref.name, base),
        signal,
        onProgress,
        false,
      );
      return { source: blobSource(blob, name), sha256 };
    }
    case 'url':
    case 'cached': {
      const url = ref.kind === 'url' ? ref.url : ref.key;
      const { blob, name, sha256, notKept } = await fetchModel(url, signal, onProgress);
      const source = blobSource(blob, name);
      if (notKept === null) return { source, sha256 };
      return {
        source,
        sha256,
        note: `This model runs from memory and was not kept (${notKept}); next time it is downloaded again. Delete models or runs to make room.`,
      };
    }
    case 'file':
      return {
        source: filesSource(ref),
        sha256: await sha256Of(new Blob([ref.file, ...(ref.parts ?? [])]), signal, onProgress),
      };
    default:
      return ref satisfies never;
  }
}
