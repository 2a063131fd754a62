/** Episodes side by side on this machine: threads with an engine each, which take what no other has taken yet. */

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { fromWire, LabError, messageOf, type WireError } from '../errors.ts';
import type { EpisodesJob } from './episodes.ts';
import { runOnHost, type Where } from './host.ts';
import type { EpisodeItem } from './machine.ts';

/** What a thread is told. All get the whole job, and the memory in which they see what others hold. */
export interface ToThread {
  readonly job: EpisodesJob;
  /** Of each episode the thread that plays it; 0 for none yet. */
  readonly holders: Int32Array;
  /** From 1. */
  readonly self: number;
  readonly where: Where;
}

/** What a thread answers. `episode` comes before the items of that one; `done` or `failed` is the last. */
export type FromThread =
  | { readonly type: 'episode'; readonly episode: number }
  | { readonly type: 'item'; readonly item: EpisodeItem }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly error: WireError };

/** Takes an item of an episode, by its place in the job. */
export type Take = (episode: number, item: EpisodeItem) => Promise<void>;

/**
 * Plays the episodes of a job on so many threads; on one, in this thread and in order. Items are taken one at a time, so
 * that `take` may write to one file. The first failure, of a thread or in taking, ends all of them and is thrown.
 */
export async function runSideBySide(
  job: EpisodesJob,
  count: number,
  where: Where,
  take: Take,
): Promise<void> {
  const most = Math.min(count, job.episodes.length);
  if (most <= 1) {
    let playing = 0;
    await runOnHost(job, where, {
      emit: (item) => take(item.type === 'episode_done' ? playing++ : playing, item),
    });
    return;
  }
  const shared = new SharedArrayBuffer(4 * job.episodes.length);
  // What several engines do at once is not also cut into threads.
  const alone = { ...where, threads: where.threads ?? 1 };
  const inTurn = oneAtATime();
  const threads = Array.from({ length: most }, (_, i) => {
    const holders = new Int32Array(shared);
    const told: ToThread = { job, holders, self: i + 1, where: alone };
    const worker = new Worker(join(import.meta.dirname, 'episodes.js'), { workerData: told });
    return { worker, end: endOf(worker, (...item) => inTurn(() => take(...item))) };
  });
  try {
    await Promise.all(threads.map(({ end }) => end));
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

/** Whether an episode is this thread's: it is the first that asks. */
export function takes(episode: number, { self, holders }: ToThread): boolean {
  return Atomics.compareExchange(holders, episode, 0, self) === 0;
}

function oneAtATime(): (work: () => Promise<void>) => Promise<void> {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const after = before.then(work);
    before = after.catch(() => {});
    return after;
  };
}

function endedEarly(why: string): LabError {
  return new LabError(
    'internal',
    `A thread that plays episodes broke off: ${why}. Start the command again, and it goes on where it was; where memory is short, with fewer --jobs.`,
  );
}

/** Resolves when all items of a thread that did its job are taken. */
function endOf(worker: Worker, take: Take): Promise<void> {
  return new Promise((resolve, reject) => {
    let playing = -1;
    let last: Promise<void> = Promise.resolve();
    let done = false; // then it may exit while its last items are being taken
    worker.on('message', (message: FromThread) => {
      switch (message.type) {
        case 'episode':
          playing = message.episode;
          return;
        case 'item':
          last = take(playing, message.item);
          last.catch(reject);
          return;
        case 'done':
          done = true;
          last.then(resolve, reject);
          return;
        case 'failed':
          reject(fromWire(message.error));
          return;
        default:
          message satisfies never;
      }
    });
    worker.on('error', (thrown) => reject(endedEarly(messageOf(thrown))));
    worker.on('exit', (code) => {
      if (!done) reject(endedEarly(`it ended with code ${code}`));
    });
  });
}
