/** What the engine worker answers: the handlers of its API over an engine, a world host and the stores. */

import { runEpisode } from '../episode.ts';
import { LabError } from '../errors.ts';
import { zipPeft } from '../formats/peft.ts';
import { blobSource } from '../formats/source.ts';
import { ropeStyleOf } from '../model/families.ts';
import { type RowOrder, toHf } from '../model/lora-hf.ts';
import type { EpisodePorts } from '../ports.ts';
import type {
  AdapterData,
  LoadProgress,
  ModelInfo,
  ModelRef,
  Progress,
  RunManifest,
  RunSummary,
} from '../records.ts';
import type { Handlers } from '../rpc.ts';
import { bundledModelUrl, deleteModel, fetchModel, listModels, sha256Of } from '../store/models.ts';
import { appendEvent, deleteRun, getRun, listRuns, runEvents, saveRun } from '../store/runs.ts';
import { loadSnapshot, saveSnapshot } from '../store/snapshots.ts';
import { foldSummary, startSummary } from '../store/summary.ts';
import type { EngineApi, RunItem } from './api.ts';
import { createChannel } from './channel.ts';
import { EpisodeControl } from './control.ts';
import type { EngineHost, ModelFile } from './engine.ts';
import { type EnvHost, hostedWorld } from './env-host.ts';

/** Quick answers of the environment worker: descriptions, task lists, dropped files. */
const listLimit = { limitMs: 20_000, what: 'a question about its tasks' };

/** `base` is the page's address: bundled models lie relative to it. */
export function engineHandlers(
  engine: EngineHost,
  worlds: EnvHost,
  base: string,
): Handlers<EngineApi> {
  const running = new Map<string, EpisodeControl>();
  return {
    calls: {
      probe: () => engine.capabilities(),
      environments: () => worlds.call('describe', null, listLimit),
      tasks: (input) => worlds.call('tasks', input, listLimit),
      openTask: (input) => worlds.call('openTask', input, listLimit),
      models: () => listModels(),
      async deleteModel({ key }) {
        await deleteModel(key);
        return null;
      },
      loadedModel: () => engine.info,
      runs: () => listRuns(),
      runEvents: ({ id }) => runEvents(id),
      async deleteRun({ id }) {
        if (running.has(id)) {
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
        running.get(id)?.apply(command); // an episode that just ended has nothing left to control
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
      async *loadModel({ ref, contextLength }, signal) {
        const channel = createChannel<LoadProgress>();
        let info: ModelInfo | null = null;
        const work = async () => {
          const file = await openModel(ref, base, signal, channel.push);
          info = await engine.load(file, contextLength, signal, channel.push);
        };
        work().then(channel.close, channel.fail);
        yield* channel.items();
        if (!info) throw new LabError('internal', 'The model loaded without a description.');
        return info;
      },
      async *run({ task, settings }, left) {
        if (running.size > 0) {
          throw new LabError(
            'bad_input',
            'An episode is running already. Stop it, or wait for its end.',
          );
        }
        const id = newRunId();
        const control = new EpisodeControl();
        running.set(id, control);
        const signal = AbortSignal.any([left, control.signal]);
        const channel = createChannel<RunItem>();
        const onProgress = (progress: Progress) => channel.push({ kind: 'progress', progress });
        let summary: RunSummary | null = null;
        const work = async () => {
          const { lost } = await engine.backend();
          void lost.then((error) => control.fail(error));
          const faces = await engine.episode(task, settings);
          try {
            let run = startSummary(id, new Date().toISOString(), faces.manifest);
            await saveRun(run);
            channel.push({ kind: 'started', run });
            const ports: EpisodePorts = {
              policy: faces.policy,
              learner: faces.learner,
              world: hostedWorld(worlds, settings.step_timeout * 1000),
              snapshots: {
                save: (snapshot) => saveSnapshot(id, 'start', snapshot),
                load: () => loadSnapshot(id, 'start'),
              },
              nextOrder: (t, stop) => control.next(stop, () => onProgress({ type: 'paused', t })),
              onProgress,
            };
            for await (const event of runEpisode(faces.manifest, ports, signal)) {
              await appendEvent(id, event);
              run = foldSummary(run, event);
              await saveRun(run);
              // The other events leave the adapter as it was, and the last one may follow a lost device.
              if (event.type !== 'step' && event.type !== 'episode_ended') {
                await saveSnapshot(id, 'latest', await faces.learner.snapshot());
              }
              channel.push({ kind: 'event', event });
            }
            summary = run;
          } finally {
            faces.dispose();
          }
        };
        work()
          .finally(() => running.delete(id))
          .then(channel.close, channel.fail);
        yield* channel.items();
        if (!summary) throw new LabError('internal', 'The run ended without a summary.');
        return summary;
      },
    },
  };
}

/** Heads of q and k decide the order of rows; an adapter on neither needs none. */
function rowOrderOf(
  { modules }: AdapterData,
  { heads, kvHeads, architecture }: RunManifest,
): RowOrder {
  const q = modules.find(({ target }) => target === 'q_proj');
  const k = modules.find(({ target }) => target === 'k_proj');
  const headDim = q ? q.outputs / heads : k ? k.outputs / kvHeads : 2;
  return { headDim, ropeStyle: ropeStyleOf(architecture) };
}

/** Sorts by time; unique enough for one browser. */
function newRunId(): string {
  const time = new Date()
    .toISOString()
    .replace(/[-:]|\.\d+Z/g, '')
    .replace('T', '-');
  return `${time}-${crypto.randomUUID().slice(0, 4)}`;
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
      const { blob, name, sha256 } = await fetchModel(url, signal, onProgress);
      return { source: blobSource(blob, name), sha256 };
    }
    case 'file':
      return {
        source: blobSource(ref.file, ref.file.name),
        sha256: await sha256Of(ref.file, signal, onProgress),
      };
    default:
      return ref satisfies never;
  }
}
