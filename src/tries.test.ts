import { expect, test } from 'vitest';
import type { EpisodeEnded, Generation, RunManifest } from './records.ts';
import { fresh, run } from './train/testing-episode.ts';
import { nextOf, type Tried } from './tries.ts';

const { events } = await run(fresh, { method: 'reflexion', step_limit: 1 });
const [started] = events;
if (started?.type !== 'episode_started') throw new Error('no start');
const { manifest } = started;

/** A try that began with the one list and wrote the text at its end; null for one that solved the task. */
function tried(began: readonly string[], wrote: string | null): Tried {
  const own: RunManifest = began.length > 0 ? { ...manifest, reflections: began } : manifest;
  const words = (text: string): Generation => ({
    ...{ promptTokens: 1, ids: [1], logprobs: [0], text, stop: 'eos' },
  });
  const ended: EpisodeEnded = {
    ...{ type: 'episode_ended', seq: 1, t: 1, reward: 0, updates: 0, rollbacks: 0, error: null },
    reason: wrote === null ? 'solved' : 'step_limit',
    ...(wrote !== null && { reflection: words(wrote) }),
  };
  return { manifest: own, ended };
}

test('an episode goes on after its last try, and is at its end when none is to come', () => {
  const first = tried([], 'a ');
  const second = tried(['a'], 'b');
  expect(nextOf([])).toEqual([]);
  expect(nextOf([first])).toEqual(['a']);
  expect(nextOf([second, first])).toEqual(['a', 'b']);
  // Three tries are all, by default, and a solved one is the last.
  expect(nextOf([tried(['a', 'b'], 'c'), second, first])).toBeNull();
  expect(nextOf([tried(['a'], null), first])).toBeNull();
  expect(nextOf([tried([], null), first])).toBeNull();
});

test('a try of other words goes on with nothing', () => {
  expect(nextOf([tried(['x'], null)])).toEqual([]);
  expect(nextOf([tried(['x'], null), tried([], 'a')])).toEqual(['a']);
});
