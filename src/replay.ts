/**
 * Takes an episode up again from its record. The loop runs anew over the same ports, but what the
 * policy wrote is taken from the record instead of being sampled; worlds and updates are repeated,
 * which they can be exactly. Where the record ends, the episode goes on as if nothing had happened.
 */

import { runEpisode } from './episode.ts';
import { LabError } from './errors.ts';
import type { EpisodePorts, Order, Policy } from './ports.ts';
import type { EpisodeEnded, EpisodeEvent, RunManifest, StepTaken, Summary } from './records.ts';
import { foldSummary, startSummary } from './store/summary.ts';

/** What of a run can be taken up: everything up to an end that was not the episode's own. */
export function resumable(events: readonly EpisodeEvent[]): readonly EpisodeEvent[] | null {
  const last = events.at(-1);
  if (events[0]?.type !== 'episode_started' || !last) return null;
  if (last.type !== 'episode_ended') return events;
  switch (last.reason) {
    case 'stopped':
    case 'environment_error':
    case 'engine_error':
      return events.slice(0, -1);
    case 'solved':
    case 'failed':
    case 'step_limit':
    case 'context_full':
      return null;
    default:
      return last.reason satisfies never;
  }
}

/**
 * Yields only what comes after the record, numbered on from it. `onReplayed` is told how many of the
 * recorded events have been repeated, and waited for; until all are, the ports tell no progress of their own: nothing
 * new is written or trained. A stop meanwhile ends the run where its record ends. Throws `bad_input`
 * when a repeated event differs from the recorded one: model, backend or version are then not those of
 * the run.
 */
export async function* resumeEpisode(
  manifest: RunManifest,
  record: readonly EpisodeEvent[],
  ports: EpisodePorts,
  signal: AbortSignal,
  onReplayed: (done: number) => Promise<void> | void,
): AsyncGenerator<EpisodeEvent, void, void> {
  let repeated = 0;
  const onProgress: EpisodePorts['onProgress'] = (progress) => {
    if (repeated >= record.length) ports.onProgress(progress);
  };
  const replayed = replaying({ ...ports, onProgress }, record, recordedOrders(record, true));
  const events = runEpisode(manifest, replayed, signal);
  for await (const event of events) {
    const recorded = record[event.seq];
    if (!recorded) {
      yield event;
      continue;
    }
    if (event.type === 'episode_ended') {
      if (event.reason === 'stopped') {
        yield stoppedAtEndOf(record, manifest);
        return;
      }
      // The record has no such end: the replay has failed, and the record stays as it is.
      throw new LabError(event.error?.code ?? 'internal', event.error?.message ?? 'It failed.');
    }
    const difference = differenceOf(recorded, event);
    if (difference) {
      throw new LabError(
        'bad_input',
        `The run cannot be taken up: ${difference}. Load the model it was run with, on the same backend; the record is kept as it is.`,
        { seq: event.seq },
      );
    }
    repeated = event.seq + 1;
    await onReplayed(repeated);
  }
}

/** The end of a run that was stopped before anything was added to its record. */
function stoppedAtEndOf(record: readonly EpisodeEvent[], manifest: RunManifest): EpisodeEnded {
  const { steps, reward, updates, rollbacks } = record.reduce(
    foldSummary,
    startSummary('', '', manifest),
  );
  return {
    type: 'episode_ended',
    seq: record.length,
    reason: 'stopped',
    t: steps,
    reward,
    updates,
    rollbacks,
    error: null,
  };
}

/**
 * A new run over the same task whose first `t` steps take what was written from the record. All else is
 * its own: it acts in the world again and trains under its own settings, so that two forks differ by
 * their settings alone up to there. Turns that the record's method or its own refuses play no part in
 * these steps: nothing is sampled for them.
 */
export async function* forkEpisode(
  manifest: RunManifest,
  record: readonly EpisodeEvent[],
  t: number,
  ports: EpisodePorts,
  signal: AbortSignal,
): AsyncGenerator<EpisodeEvent, void, void> {
  const prefix = record
    .filter((event) => event.type !== 'episode_ended' && (!('t' in event) || event.t <= t))
    .map(withoutRefusals);
  const replayed = replaying(ports, prefix, recordedOrders(prefix, false));
  for await (const event of runEpisode(manifest, replayed, signal)) {
    yield 't' in event && event.t <= t ? withoutRefusals(event) : event;
  }
}

function withoutRefusals(event: EpisodeEvent): EpisodeEvent {
  if (event.type !== 'step') return event;
  const { refused: _, ...step } = event;
  return step;
}

/** The same ports, with recorded generations, summaries and orders first. */
function replaying(
  ports: EpisodePorts,
  record: readonly EpisodeEvent[],
  orders: ReadonlyMap<number, Order[]>,
): EpisodePorts {
  const turns = recordedTurns(record);
  let asked = 0; // how often the turn after the last step has been written
  let t = 0;
  const lastStep = record.findLast((event) => event.type === 'step')?.t ?? 0;
  const { policy } = ports;
  const recordedPolicy: Policy = {
    contextLength: policy.contextLength,
    begin: (messages) => policy.begin(messages),
    follow: (generation, message) => policy.follow(generation, message),
    async generate(...request) {
      const turn = turns.get(t + 1);
      // Of a turn that was refused only the action is recorded: it is sampled again, from the same stream.
      return turn && asked++ >= (turn.refused?.length ?? 0)
        ? turn.generation
        : policy.generate(...request);
    },
  };
  const summaries = recordedSummaries(record);
  return {
    ...ports,
    policy: recordedPolicy,
    world: {
      reset: (...request) => ports.world.reset(...request),
      step(...request) {
        t++;
        asked = 0;
        return ports.world.step(...request);
      },
    },
    summaries: {
      async write(trajectory, ...how) {
        const last = trajectory.steps.at(-1)?.t ?? 0;
        return summaries.get(last) ?? ports.summaries.write(trajectory, ...how);
      },
    },
    async nextOrder(at, signal) {
      const order = orders.get(at)?.shift();
      if (order) return order;
      return at < lastStep ? 'continue' : ports.nextOrder(at, signal);
    },
  };
}

/** By step. */
function recordedTurns(record: readonly EpisodeEvent[]): ReadonlyMap<number, StepTaken> {
  return new Map(record.flatMap((event) => (event.type === 'step' ? [[event.t, event]] : [])));
}

/** By the step that they end with. */
function recordedSummaries(record: readonly EpisodeEvent[]): ReadonlyMap<number, Summary> {
  return new Map(
    record.flatMap((event) =>
      event.type === 'boundary' && event.summary
        ? [[event.t, { ...event.summary, text: event.text }]]
        : [],
    ),
  );
}

/** What a person asked for after each step, in order; `exact`: it must end as it did, whatever version recorded it. */
function recordedOrders(
  record: readonly EpisodeEvent[],
  exact: boolean,
): ReadonlyMap<number, Order[]> {
  const orders = new Map<number, Order[]>();
  for (const event of record) {
    const order = orderOf(event, exact);
    if (order && 't' in event) orders.set(event.t, [...(orders.get(event.t) ?? []), order]);
  }
  return orders;
}

function orderOf(event: EpisodeEvent, exact: boolean): Order | null {
  if (event.type === 'rolled_back') return 'roll_back_now';
  if (event.type !== 'boundary' || event.trigger !== 'manual') return null;
  // A request that is refused because the step was trained already has no ratio.
  return exact && event.ratio !== null ? 'update_again' : 'update_now';
}

/** What a repeated event has that the recorded one has not, in words; null when nothing that matters. */
function differenceOf(recorded: EpisodeEvent, repeated: EpisodeEvent): string | null {
  const what = (event: EpisodeEvent) => {
    switch (event.type) {
      case 'episode_started':
        return `the first prompt ${event.promptIds.join(' ')} in the world ${event.stateHash}`;
      case 'step':
        return `step ${event.t}, "${event.action}", world ${event.stateHash}`;
      case 'boundary':
        return `boundary after step ${event.t}, ${event.outcome}`;
      case 'rolled_back':
        return `rollback after step ${event.t}`;
      case 'episode_ended':
        return `end after step ${event.t}`;
      default:
        return event satisfies never;
    }
  };
  const [was, is] = [what(recorded), what(repeated)];
  return was === is ? null : `it has "${cut(was)}" and repeating it gives "${cut(is)}"`;
}

function cut(text: string): string {
  return text.length > 160 ? `${text.slice(0, 80)} … ${text.slice(-60)}` : text;
}
