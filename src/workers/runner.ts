/** Runs one episode at a time, new or taken up again, and stores each event before it tells anyone. */

import { EventClock } from '../clock.ts';
import type { Settings } from '../config.ts';
import { runEpisode } from '../episode.ts';
import { LabError } from '../errors.ts';
import type { StartAdapter } from '../model/start-adapter.ts';
import { sameKernels } from '../model/variants.ts';
import type { EpisodePorts } from '../ports.ts';
import type {
  EpisodeEvent,
  Progress,
  RemoteRef,
  RunManifest,
  RunSummary,
  TaskRef,
} from '../records.ts';
import { forkEpisode, resumable, resumeEpisode } from '../replay.ts';
import { pushed } from '../sequences.ts';
import { appendEvent, dropEventsFrom, getRun, runEvents, saveRun } from '../store/runs.ts';
import { loadSnapshot, saveSnapshot } from '../store/snapshots.ts';
import { foldSummary, startSummary } from '../store/summary.ts';
import type { Control, EngineApi, RunItem } from './api.ts';
import { EpisodeControl } from './control.ts';
import type { EngineHost } from './engine.ts';
import { type EnvHost, hostedWorld } from './env-host.ts';
import { recordedStart, startOf } from './start-adapters.ts';

/** A run as the store knows it before this episode's first event. */
interface Beginning {
  readonly id: string;
  readonly createdAt: string;
  readonly task: TaskRef;
  readonly settings: Settings;
  readonly summaryServer: RemoteRef | null;
  /** The events that are stored already and are repeated; empty for a new run. */
  readonly record: readonly EpisodeEvent[];
  readonly reflections?: readonly string[];
  readonly startAdapter: StartAdapter | null;
  /** Another run whose first steps are taken over. */
  readonly fork?: EngineApi['streams']['fork']['input'];
}

export class EpisodeRunner {
  readonly #engine: Pick<EngineHost, 'backend' | 'episode'>;
  readonly #worlds: Pick<EnvHost, 'call'>;
  #running: { readonly id: string; readonly control: EpisodeControl } | null = null;

  constructor(engine: Pick<EngineHost, 'backend' | 'episode'>, worlds: Pick<EnvHost, 'call'>) {
    this.#engine = engine;
    this.#worlds = worlds;
  }

  isRunning(id: string): boolean {
    return this.#running?.id === id;
  }

  /** An episode that just ended has nothing left to control. */
  control(id: string, command: Control): void {
    if (this.#running?.id === id) this.#running.control.apply(command);
  }

  /** A new run. */
  async *start(
    input: EngineApi['streams']['run']['input'],
    left: AbortSignal,
  ): AsyncGenerator<RunItem, RunSummary, void> {
    const createdAt = new Date().toISOString();
    const { startFrom = null } = input;
    const startAdapter = startFrom && (await startOf(startFrom));
    const run = { id: newRunId(), createdAt, ...input, startAdapter, record: [] };
    return yield* this.#run(run, left);
  }

  /** Goes on with a stored run. Throws `bad_input` when it has ended by itself or nothing of it is left. */
  async *resume(
    { id, summaryServer }: EngineApi['streams']['resume']['input'],
    left: AbortSignal,
  ): AsyncGenerator<RunItem, RunSummary, void> {
    const { createdAt, manifest } = await getRun(id);
    const record = resumable(await runEvents(id));
    if (!record) {
      throw new LabError(
        'bad_input',
        'This run cannot go on: it came to its own end, or ended before its first event was stored.',
        { id },
      );
    }
    const { task, settings } = manifest;
    const startAdapter = await recordedStart(manifest, id);
    const run = { id, createdAt, task, settings, summaryServer, startAdapter, record };
    return yield* this.#run(run, left);
  }

  /** A new run that begins as another one did. Throws `bad_input` where the model reads other ids. */
  async *fork(
    input: EngineApi['streams']['fork']['input'],
    left: AbortSignal,
  ): AsyncGenerator<RunItem, RunSummary, void> {
    const [first] = input.record;
    if (first?.type !== 'episode_started') {
      throw new LabError('bad_input', 'Nothing can be forked: the record has no first event.');
    }
    const { task } = first;
    const createdAt = new Date().toISOString();
    const { settings, summaryServer } = input;
    const { reflections = [] } = first.manifest; // the recorded turns were written after these
    const startAdapter = await recordedStart(first.manifest, input.run);
    const own = { id: newRunId(), createdAt, task, settings, summaryServer, reflections };
    return yield* this.#run({ ...own, startAdapter, record: [], fork: input }, left);
  }

  async *#run(beginning: Beginning, left: AbortSignal): AsyncGenerator<RunItem, RunSummary, void> {
    if (this.#running) {
      throw new LabError(
        'bad_input',
        'An episode is running already. Stop it, or wait for its end.',
      );
    }
    const control = new EpisodeControl();
    this.#running = { id: beginning.id, control };
    return yield* pushed(async (push) => {
      try {
        return await this.#work(beginning, control, left, push);
      } finally {
        this.#running = null;
      }
    });
  }

  async #work(
    beginning: Beginning,
    control: EpisodeControl,
    left: AbortSignal,
    push: (item: RunItem) => void,
  ): Promise<RunSummary> {
    const { id, createdAt, task, settings, summaryServer, reflections, record, fork } = beginning;
    const { startAdapter } = beginning;
    const signal = AbortSignal.any([left, control.signal]);
    const { lost } = await this.#engine.backend();
    void lost.then((error) => control.fail(error));
    const kernels = kernelsOf(fork?.record ?? record);
    const faces = await this.#engine.episode(task, settings, {
      ...{ summaryServer, startAdapter },
      ...(kernels !== undefined && { kernels }),
      ...(reflections && { reflections }),
    });
    try {
      const manifest = fork
        ? forkOf(fork, faces.manifest)
        : record.length > 0
          ? sameMachine(record, faces.manifest)
          : faces.manifest;
      let run = record.reduce(foldSummary, startSummary(id, createdAt, manifest));
      // From here on the run is in progress again: an end that was none goes, so that a crash shows as one.
      if (record.length > 0) await dropEventsFrom(id, record.length);
      await saveRun(run);
      push({ kind: 'started', run });
      for (const event of record) push({ kind: 'event', event });
      const onProgress = (progress: Progress) => push({ kind: 'progress', progress });
      const clock = new EventClock();
      const ports: EpisodePorts = {
        policy: faces.policy,
        learner: faces.learner,
        summaries: faces.summaries,
        world: hostedWorld(this.#worlds, settings.step_timeout * 1000),
        snapshots: {
          save: (snapshot) => saveSnapshot(id, 'start', snapshot),
          load: () => loadSnapshot(id, 'start'),
        },
        nextOrder: (t, stop) =>
          clock.leaveOut(control.next(stop, () => onProgress({ type: 'paused', t }))),
        onProgress,
      };
      const keepLatest = async () => saveSnapshot(id, 'latest', await faces.learner.snapshot());
      const replayed = async (done: number) => {
        // The tab may have gone after the last event was stored and before the adapter was.
        if (done === record.length) await keepLatest();
        clock.restart();
        const t = record.findLast(({ seq, type }) => seq < done && type === 'step');
        const at = t?.type === 'step' ? t.t : 0;
        onProgress({ type: 'phase', t: at, phase: 'replay', done, total: record.length });
      };
      const events = fork
        ? forkEpisode(manifest, fork.record, fork.t, ports, signal)
        : record.length > 0
          ? resumeEpisode(manifest, record, ports, signal, replayed)
          : runEpisode(manifest, ports, signal);
      for await (const made of events) {
        const event = clock.stamp(made);
        await appendEvent(id, event);
        run = foldSummary(run, event);
        await saveRun(run);
        // The other events leave the adapter as it was, and the last one may follow a lost device.
        if (event.type !== 'step' && event.type !== 'episode_ended') {
          await keepLatest();
        }
        push({ kind: 'event', event });
      }
      return run;
    } finally {
      faces.dispose();
    }
  }
}

/** The kernels that a record was computed with; what repeats it must use the same. */
function kernelsOf([first]: readonly EpisodeEvent[]): string | undefined {
  return first?.type === 'episode_started' ? first.manifest.kernels : undefined;
}

/** The recorded manifest, if the present model and backend are those of the record. */
function sameMachine(record: readonly EpisodeEvent[], now: RunManifest): RunManifest {
  const [first] = record;
  if (first?.type !== 'episode_started') return now;
  const was = first.manifest;
  if (was.modelSha256 !== now.modelSha256) {
    throw new LabError(
      'bad_input',
      `This run was made with the model ${was.modelName} (sha256 ${was.modelSha256.slice(0, 12)}), and ${now.modelName} (${now.modelSha256.slice(0, 12)}) is loaded. Load that model, then resume.`,
    );
  }
  if (was.backend !== now.backend) {
    throw new LabError(
      'bad_input',
      `This run was made on ${was.backend}, and this tab computes on ${now.backend}. Choose the backend under the badge at the top, then resume.`,
    );
  }
  if (was.kernels !== undefined && !sameKernels(was.kernels, now.kernels ?? '')) {
    throw new LabError(
      'bad_input',
      `This run was computed with the kernels "${was.kernels}" on ${was.device}; this tab has ${now.device} and computes with "${now.kernels}", whose last bits may differ. Resume it on that machine, or fork it.`,
    );
  }
  return was;
}

/** The manifest of a fork, if the present model reads and writes the ids of the record. */
function forkOf(
  { record, run, t }: EngineApi['streams']['fork']['input'],
  now: RunManifest,
): RunManifest {
  const [first] = record;
  const was = first?.type === 'episode_started' ? first.manifest : null;
  const sameIds =
    was?.modelSha256 === now.modelSha256 ||
    (was?.tokenizerSha256 !== '' && was?.tokenizerSha256 === now.tokenizerSha256);
  if (!sameIds) {
    throw new LabError(
      'bad_input',
      `The recorded run was made with ${was?.modelName ?? 'another model'}, whose tokens ${now.modelName} does not share. Load that model, or one with its tokenizer, then fork.`,
    );
  }
  return { ...now, forkedFrom: { run, t } };
}

/** Sorts by time; unique enough for one browser. */
function newRunId(): string {
  const time = new Date()
    .toISOString()
    .replace(/[-:]|\.\d+Z/g, '')
    .replace('T', '-');
  return `${time}-${crypto.randomUUID().slice(0, 4)}`;
}
