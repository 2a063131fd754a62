/** Runs episodes one after another on one engine; every event goes out before the next is asked for. */

import { EventClock } from '../clock.ts';
import type { Settings } from '../config.ts';
import { runEpisode } from '../episode.ts';
import { heldConversation, heldTexts } from '../experiment/held-texts.ts';
import { isErrorRow, type Retention } from '../experiment/row.ts';
import { completionsUrl } from '../formats/channel.ts';
import { adapterLabel, openAdapter } from '../model/adapter-file.ts';
import type { LlamaConfig } from '../model/llama-config.ts';
import { type StartAdapter, startAdapter } from '../model/start-adapter.ts';
import type { Learner, Snapshots, TrainText } from '../ports.ts';
import type { EpisodeEvent, LearnerSnapshot, RemoteRef, TaskRef } from '../records.ts';
import { encodeChat } from '../text/chat.ts';
import { chatTemplateOf } from '../text/template.ts';
import { methods, withMethod } from '../train/methods.ts';
import { meanCrossEntropy } from '../train/validation.ts';
import { nextTry } from '../tries.ts';
import { EngineHost } from '../workers/engine.ts';
import { bundleRun } from '../workers/run-bundle.ts';
import { localWorld } from '../workers/world-local.ts';
import { type Machine, type PortableFile, sourcesOf, toBase64 } from './machine.ts';

export interface EpisodeJob {
  readonly task: TaskRef;
  readonly settings: Settings;
  /** Which of the job's adapters it starts from; absent for a fresh one. */
  readonly adapter?: string;
}

/** Episodes of one model. */
export interface EpisodesJob {
  readonly kind: 'run';
  readonly episodes: readonly EpisodeJob[];
  /** Of the model's file, hex. */
  readonly modelSha256: string;
  /** Also measure, after each episode that may train, what its adapter unlearnt. */
  readonly retention: boolean;
  /** A served model in place of the machine's file. */
  readonly remote: RemoteRef | null;
  /** Adapters that episodes start from. */
  readonly adapters: readonly NamedAdapter[];
  /** The server that writes summaries, for settings that name a summary model. */
  readonly summaryServer: RemoteRef | null;
  /** Keep a bundle of each try. */
  readonly bundles: boolean;
  /** Stamp each event with the time; without it equal runs give equal files. */
  readonly times: boolean;
}

/** An adapter as its path names it, and what it is called unless its files say. */
export interface NamedAdapter {
  readonly path: string;
  readonly name: string;
  readonly files: readonly PortableFile[];
}

/**
 * Tokens, more than the longest held text can have: it has 1,200 bytes and what a template puts around ten turns. What an
 * adapter unlearnt is known of episodes in a shorter context too, whatever others the same call plays.
 */
const HELD_CONTEXT = 2048;

/** An episode that fails ends with its own event, and the next one begins. */
export async function runEpisodes(job: EpisodesJob, machine: Machine): Promise<void> {
  const { source, backend, env, note, emit, keep, isOurs = () => true } = machine;
  const { episodes, modelSha256: sha256, remote, summaryServer, bundles, times } = job;
  const { signal } = new AbortController();
  const engine = new EngineHost(env, backend);
  const context = episodes.reduce(
    (most, { settings }) => Math.max(most, withMethod(settings).context_length),
    job.retention ? HELD_CONTEXT : 0,
  );
  const load = () => engine.load({ source, sha256 }, context, signal, () => {});
  if (remote) {
    await engine.connect(remote, signal);
    note(`${remote.model} on ${completionsUrl(remote.baseUrl).origin}.`);
  } else {
    const { device } = await engine.capabilities();
    note(`Backend: ${backend}, ${device}.`);
    await load();
  }
  const starts = new Map<string, StartAdapter>();
  for (const adapter of job.adapters) {
    starts.set(adapter.path, await openStart(adapter, engine.loaded.model.config));
  }
  // Of what episodes start from, by its content: the same for all that start there.
  const bases = new Map<string, HeldLosses>();
  for (const [i, { task, settings, adapter }] of episodes.entries()) {
    if (!isOurs(i)) continue;
    if (engine.info === null) {
      note('The device was lost and the model with it; it is opened again.');
      await load();
    }
    const start = adapter === undefined ? null : (starts.get(adapter) ?? null);
    const { trains } = methods[settings.method];
    let reflections: readonly string[] | null = [];
    let retention: Retention | null = null;
    let seconds = 0;
    for (let nth = 1; reflections !== null; nth++) {
      const extras = { reflections, summaryServer, startAdapter: start };
      const faces = await engine.episode(task, settings, extras);
      const snapshots = heldSnapshots();
      const events: EpisodeEvent[] = [];
      let failed = false;
      try {
        const ports = {
          policy: faces.policy,
          learner: faces.learner,
          summaries: faces.summaries,
          world: localWorld(),
          snapshots,
          nextOrder: async () => 'continue' as const,
          onProgress: () => {},
        };
        const measures = job.retention && trains !== 'never';
        const from = start?.sha256 ?? '';
        const base =
          bases.get(from) ?? (measures && (await heldLosses(faces.learner, engine, signal)));
        if (base) bases.set(from, base);
        const clock = new EventClock();
        const began = performance.now();
        for await (const made of runEpisode(faces.manifest, ports, signal)) {
          const event = times ? clock.stamp(made) : made;
          await emit(event);
          if (bundles) events.push(event);
          if (event.type !== 'episode_ended') continue;
          failed = isErrorRow(event);
          reflections = nextTry(faces.manifest, event);
          if (event.noReflection) note(`${task.split} ${task.index}: ${event.noReflection}`);
        }
        seconds += (performance.now() - began) / 1000;
        if (bundles && events[0]?.type === 'episode_started') {
          const kept = { start: await snapshots.load(), latest: await faces.learner.snapshot() };
          const id = `${task.split}-${task.index}${nth === 1 ? '' : `-try${nth}`}`;
          const { manifest } = faces;
          const run = { id, createdAt: null, manifest, events, snapshots: kept };
          await keep({ name: `${id}.attt.zip`, base64: toBase64(await bundleRun(run)) });
        }
        if (measures && base && !failed) {
          const after = await heldLosses(faces.learner, engine, signal);
          retention = after && {
            texts: { base: base.texts, adapter: after.texts },
            turns: { base: base.turns, adapter: after.turns },
          };
        }
      } finally {
        faces.dispose();
      }
    }
    await emit({ type: 'episode_done', retention, seconds });
  }
}

/** Throws what opening an adapter throws. */
export async function openStart(
  { name, files }: NamedAdapter,
  config: LlamaConfig,
): Promise<StartAdapter> {
  const sources = sourcesOf(files);
  const data = await openAdapter(sources, config);
  return startAdapter((await adapterLabel(sources))?.name ?? name, data);
}

interface HeldLosses {
  readonly texts: number;
  readonly turns: number;
}

/**
 * Mean cross entropy in nats a token of the held texts, and of the policy's turns in the held conversation. null where the
 * model's own context cannot hold them.
 */
async function heldLosses(
  learner: Learner,
  engine: EngineHost,
  signal: AbortSignal,
): Promise<HeldLosses | null> {
  const { tokenizer, gguf, model } = engine.loaded;
  const texts = heldTexts.map((text): TrainText => {
    const ids = tokenizer.encode(text, { special: false });
    const context = learner.bos;
    return { context, ids, weights: ids.map((_, j) => (context.length + j > 0 ? 1 : 0)) };
  });
  const template = chatTemplateOf(gguf.metadata);
  const { ids, spans } = encodeChat(tokenizer, template, heldConversation, {
    addGenerationPrompt: false,
  });
  const own = spans.filter((_, i) => heldConversation[i]?.role === 'assistant');
  const within = (j: number) => own.some((span) => span && span.start <= j && j < span.end);
  const weights = ids.map((_, j) => (within(j) ? 1 : 0));
  const turns: TrainText = { context: [], ids, weights };
  const fits = (text: TrainText) =>
    text.context.length + text.ids.length <= model.config.contextLength;
  if (![...texts, turns].every(fits)) return null;
  return {
    texts: await meanCrossEntropy(texts, learner, signal),
    turns: await meanCrossEntropy([turns], learner, signal),
  };
}

/** The episode's start as bytes of its own, so that nothing that learns can reach it. */
function heldSnapshots(): Snapshots {
  let held: LearnerSnapshot | null = null;
  return {
    async save(snapshot) {
      held = structuredClone(snapshot);
    },
    async load() {
      if (held === null) throw new Error('The episode start was never saved.');
      return structuredClone(held);
    },
  };
}
