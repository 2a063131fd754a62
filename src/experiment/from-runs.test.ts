import { expect, test } from 'vitest';
import { EventClock } from '../clock.ts';
import type { Settings } from '../config.ts';
import { fresh, run, type Script } from '../train/testing-episode.ts';
import { experimentOfRuns, type FinishedRun } from './from-runs.ts';
import { scorecard } from './scorecard.ts';
import { sweepsOf } from './sweeps.ts';

async function finished(
  settings: Partial<Settings>,
  solvedAt = 99,
  reflections?: readonly string[],
  orders: Script['orders'] = {},
): Promise<FinishedRun> {
  const own = { step_limit: 6, ...settings };
  const { events } = await run(fresh, own, { solvedAt, orders }, undefined, reflections);
  const [started] = events;
  if (started?.type !== 'episode_started') throw new Error('no start');
  return { manifest: started.manifest, events };
}

test('runs become arms by their settings, and rows by task and seed', async () => {
  const runs = [
    await finished({ method: 'attt', seed: 1 }, 3),
    await finished({ method: 'attt', seed: 2 }),
    await finished({ method: 'attt', seed: 1, lora_rank: 4 }),
    await finished({ method: 'frozen', seed: 1 }),
    await finished({ method: 'frozen', seed: 1 }),
  ];
  const { header, rows, notes } = experimentOfRuns(runs);
  expect(header.arms.map(({ name }) => name)).toEqual(['attt', 'attt lora_rank=4', 'frozen']);
  expect(header.experiment).toMatchObject({ tasks: [0], seeds: [1, 2] });
  expect(rows).toHaveLength(4);
  expect(notes.join(' ')).toContain('1 repeats');
  const [attt] = scorecard(header, rows);
  expect(attt).toMatchObject({ solved: 1, episodes: 2, difference: { pairs: 1, points: 1 } });
});

test('runs of other seeds are points of one sweep', async () => {
  const { header, rows } = experimentOfRuns([
    await finished({ update_interval_k: 5, seed: 1 }),
    await finished({ update_interval_k: 2, seed: 2 }),
  ]);
  const [sweep, ...others] = sweepsOf(scorecard(header, rows));
  expect(others).toEqual([]);
  expect(sweep).toMatchObject({ method: 'attt', field: 'update_interval_k' });
  expect(sweep?.points.map(({ value }) => value)).toEqual(['2', '5']);
});

test('a control is compared to frozen, although it was sampled or read otherwise', async () => {
  const { header, rows } = experimentOfRuns([
    await finished({ method: 'temperature' }, 3),
    await finished({ method: 'short_history' }),
    await finished({ method: 'frozen', step_limit: 5 }),
    await finished({ method: 'frozen' }),
  ]);
  const [hot, short] = scorecard(header, rows);
  expect(hot).toMatchObject({
    difference: { points: 1 },
    baseline: { settings: { step_limit: 6 } },
  });
  expect(short).toMatchObject({ difference: { points: 0 } });
});

test('runs of another model are left out and counted', async () => {
  const one = await finished({});
  const other = { ...one, manifest: { ...one.manifest, modelSha256: 'other' } };
  const { rows, notes } = experimentOfRuns([one, other]);
  expect(rows).toHaveLength(1);
  expect(notes.join(' ')).toContain('1 runs of another model');
  expect(() => experimentOfRuns([])).toThrow('no finished run');
});

const reflexion = { method: 'reflexion', seed: 1 } as const;
/** What a failed try wrote at its end. */
const written = ({ events }: FinishedRun) => {
  const ended = events.at(-1);
  return ended?.type === 'episode_ended' ? (ended.reflection?.text.trim() ?? '') : '';
};
const tokens = (runs: readonly FinishedRun[]) =>
  runs
    .flatMap(({ events }) => events)
    .reduce((sum, event) => {
      if (event.type === 'step') return sum + event.generation.ids.length;
      return sum + (event.type === 'episode_ended' ? (event.reflection?.ids.length ?? 0) : 0);
    }, 0);

test('the tries of one task are one row, with the steps and tokens of all', async () => {
  const first = await finished(reflexion);
  const second = await finished(reflexion, 3, [written(first)]);
  const { header, rows, notes } = experimentOfRuns([second, first]); // newest first
  expect(rows).toMatchObject([
    { tries: 2, solved: true, reason: 'solved', steps: 9, generated: tokens([first, second]) },
  ]);
  // The second try took three steps; nobody timed the episode.
  const [card] = scorecard(header, rows);
  expect(card).toMatchObject({ tries: 2, stepsSolved: 3, secondsPerSolved: null });
  expect(notes.join(' ')).not.toMatch(/repeats|to come/);
  // A second episode, left between its tries: the whole one is the row.
  const again = experimentOfRuns([await finished(reflexion), second, first]);
  expect(again.rows).toMatchObject([{ tries: 2, solved: true }]);
  expect(again.notes.join(' ')).toContain('1 repeats');
});

test('an episode took what its steps did, over all its tries; one that was not timed has no seconds', async () => {
  /** Each event half a second after the one before it. */
  const timed = ({ manifest, events }: FinishedRun): FinishedRun => {
    let now = 0;
    const clock = new EventClock(() => 500 * now++);
    return { manifest, events: events.map((event) => clock.stamp(event)) };
  };
  const first = await finished(reflexion);
  const second = await finished(reflexion, 3, [written(first)]);
  // Six steps with the boundary after the fifth, and three, each with a start and an end: 9 + 5 events.
  const { header, rows, notes } = experimentOfRuns([timed(second), timed(first)]);
  expect(rows).toMatchObject([{ tries: 2, seconds: 7 }]);
  expect(scorecard(header, rows)[0]?.secondsPerSolved).toBe(7);
  expect(notes.join(' ')).not.toContain('seconds');
  const older = experimentOfRuns([timed(second), first]);
  expect(older.rows).toMatchObject([{ tries: 2, seconds: null }]);
  expect(older.notes).toContain('1 episodes have no seconds: not every step of theirs was timed.');
});

test('a try that begins with other words than were written has its place by their number', async () => {
  const first = await finished(reflexion);
  const tries = [
    first,
    await finished(reflexion, 99, ['a']),
    await finished(reflexion, 2, ['a', 'b']),
  ];
  expect(experimentOfRuns(tries.toReversed()).rows).toMatchObject([
    { tries: 3, solved: true, steps: 14, generated: tokens(tries) },
  ]);
});

test('tries to come, and tries without their first, are told of', async () => {
  const first = await finished(reflexion);
  const lone = await finished({ ...reflexion, seed: 2 }, 99, ['a']);
  const { rows, notes } = experimentOfRuns([lone, first]);
  expect(rows).toMatchObject([{ seed: 1, tries: 1, solved: false }]);
  expect(notes).toContain('1 later tries of a task whose first one is not here are left out.');
  expect(notes).toContain('1 episodes stand here with the tries they have; one more was to come.');
});

test('a fork and the tries after it stand for no run of their own', async () => {
  const forked = (from: FinishedRun): FinishedRun => ({
    ...from,
    manifest: { ...from.manifest, forkedFrom: { run: 'r', t: 2 } },
  });
  const first = await finished(reflexion);
  const fork = forked(await finished({ ...reflexion, temperature: 0.3 }, 99));
  const after = await finished({ ...reflexion, temperature: 0.3 }, 1, [written(fork)]);
  const { rows, notes } = experimentOfRuns([after, fork, first]);
  expect(rows).toMatchObject([{ arm: 'reflexion', tries: 1, solved: false, steps: 6 }]);
  expect(notes).toContain('2 forked runs and tries after them are left out.');
  const plain = await finished({ method: 'attt' });
  const newer = forked(await finished({ method: 'attt' }, 2));
  expect(experimentOfRuns([newer, plain]).rows).toMatchObject([{ solved: false, steps: 6 }]);
  expect(() => experimentOfRuns([newer])).toThrow('no finished run');
});

test('a run that a person steered, and the tries after it, stand for no run of their settings', async () => {
  const plain = await finished({ method: 'attt' });
  const updated = await finished({ method: 'attt' }, 3, undefined, { 2: ['update_now'] });
  // Nothing was trained yet that could be taken back.
  const rolledBack = await finished({ method: 'attt' }, 3, undefined, { 1: ['roll_back_now'] });
  const first = await finished({ ...reflexion, seed: 2 }, 99, undefined, { 2: ['roll_back_now'] });
  // What a steered try of other settings wrote came into this one's prompt.
  const after = await finished({ ...reflexion, seed: 2 }, 3, [written(first)]);
  const runs = [after, first, rolledBack, updated, plain]; // newest first
  const { rows, notes } = experimentOfRuns(runs);
  expect(rows).toMatchObject([{ arm: 'attt', solved: false, steps: 6 }]);
  expect(notes).toContain(
    '4 runs that a person steered by an update or a rollback, and tries after them, are left out.',
  );
  expect(notes.join(' ')).not.toMatch(/fork|repeats|later tries/);
  expect(() => experimentOfRuns([updated, rolledBack])).toThrow('no finished run');
});

test('runs of another release are left out and counted; builds of one release are not told apart', async () => {
  const made = (appVersion: string, one: FinishedRun) => ({
    ...one,
    manifest: { ...one.manifest, appVersion },
  });
  const [first, second, third] = [
    await finished({ seed: 1 }),
    await finished({ seed: 2 }, 3),
    await finished({ seed: 3 }),
  ];
  const { header, rows, notes } = experimentOfRuns([
    made('0.2.0+gbbb', first),
    made('0.1.0+gaaa', second),
    made('0.2.0+gaaa', third),
  ]);
  expect(header.appVersion).toBe('0.2.0+gbbb');
  expect(rows.map(({ seed }) => seed)).toEqual([1, 3]);
  expect(notes).toContain(
    '1 runs of another model, start adapter, backend, release, world or split are left out.',
  );
});

test('a result stands before a newer run that ended by an error', async () => {
  const { events } = await run(fresh, { step_limit: 6 }, { worldFailsAt: 2 });
  const solved = await finished({}, 3);
  const failed = { ...solved, events };
  expect(experimentOfRuns([failed, solved]).rows).toMatchObject([{ solved: true }]);
});
