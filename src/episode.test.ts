import { expect, test } from 'vitest';
import { runEpisode } from './episode.ts';
import { LabError } from './errors.ts';
import type { EpisodePorts, Order } from './ports.ts';
import type { EpisodeEvent } from './records.ts';
import { fresh, run, scripted, stuck, turn } from './train/testing-episode.ts';

test('a boundary comes after every K-th step and trains on the last step alone', async () => {
  const { boundaries, log } = await run(fresh);
  expect(boundaries.map((b) => [b.t, b.outcome])).toEqual([
    [5, 'updated'],
    [10, 'updated'],
  ]);
  expect(log.filter((l) => l.startsWith('train'))).toEqual([
    `train ${fresh[4]}`,
    `train ${fresh[9]}`,
  ]);
});

test('sequence numbers have no gaps and the last event says why it ended', async () => {
  const { events } = await run(fresh);
  expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i));
  expect(events.at(-1)).toMatchObject({
    type: 'episode_ended',
    reason: 'step_limit',
    t: 10,
    updates: 2,
  });
});

test('text that repeats an accepted update rolls back before novelty is asked', async () => {
  const { boundaries, log, adapter } = await run(stuck);
  expect(boundaries.map((b) => b.outcome)).toEqual(['updated', 'rolled_back_ratio']);
  expect(boundaries[1]).toMatchObject({ ratio: 1, novelty: 0, nearestStep: 5, restored: true });
  expect(log).toContain('restore 0');
  expect(adapter()).toBe(0);
});

test('a rollback with nothing to undo is recorded as such and not counted', async () => {
  const { boundaries, events } = await run(stuck, { step_limit: 15 });
  expect(boundaries.map((b) => [b.outcome, b.restored])).toEqual([
    ['updated', false],
    ['rolled_back_ratio', true],
    ['rolled_back_ratio', false],
  ]);
  expect(events.at(-1)).toMatchObject({ updates: 1, rollbacks: 1 });
});

test('half-repeated text is skipped for novelty, with the numbers in words', async () => {
  const half = turn('alpha beta gamma delta new1 new2');
  const texts = [
    ...Array(5).fill(turn('alpha beta gamma delta old1 old2')),
    ...Array(5).fill(half),
  ];
  const { boundaries } = await run(texts);
  // By hand: 5 shared words (look, alpha..delta) of 9 in all.
  expect(boundaries[1]?.ratio).toBeCloseTo(5 / 9, 12);
  expect(boundaries[1]?.outcome).toBe('skipped_novelty');
  expect(boundaries[1]?.why).toBe(
    'No update: novelty 1 − r = 0.44 is below the threshold of 0.50.',
  );
});

test('the ratio limit is checked after max_updates are used, too', async () => {
  const { boundaries } = await run(stuck, { max_updates_per_episode: 1, step_limit: 10 });
  expect(boundaries.map((b) => b.outcome)).toEqual(['updated', 'rolled_back_ratio']);
  const unused = await run(fresh, { max_updates_per_episode: 1 });
  expect(unused.boundaries.map((b) => b.outcome)).toEqual(['updated', 'max_updates']);
});

test('early boundaries are too early, and a frozen or disabled run has only disabled ones', async () => {
  const early = await run(fresh, {
    update_interval_k: 2,
    min_steps_before_first_update: 5,
    step_limit: 6,
  });
  expect(early.boundaries.map((b) => b.outcome)).toEqual(['too_early', 'too_early', 'updated']);
  for (const off of [{ method: 'frozen' }, { enabled: false }] as const) {
    const { boundaries, log } = await run(fresh, off);
    expect(boundaries.map((b) => b.outcome)).toEqual(['disabled', 'disabled']);
    expect(log.some((l) => l.startsWith('train'))).toBe(false);
  }
});

test('a KL above the limit undoes the update, which is refused but stays in the record', async () => {
  const { boundaries, adapter, events } = await run(fresh, {}, { kl: 0.6 });
  expect(boundaries.map((b) => b.outcome)).toEqual(['rolled_back_kl', 'rolled_back_kl']);
  expect(boundaries[0]).toMatchObject({ kl: 0.6, updates: 0, restored: true, losses: [1, 0.5] });
  expect(adapter()).toBe(0);
  expect(events.at(-1)).toMatchObject({ updates: 0, rollbacks: 2 });
});

test('an update that overflows is undone even with rollbacks off, and its numbers stay JSON', async () => {
  const { boundaries } = await run(
    fresh,
    { rollback_enable: false, step_limit: 5 },
    { loss: Number.NaN },
  );
  expect(boundaries[0]?.outcome).toBe('rolled_back_kl');
  expect(JSON.parse(JSON.stringify(boundaries[0]?.losses))).toEqual(boundaries[0]?.losses);
});

test('with rollbacks off a high KL is recorded and kept', async () => {
  const { boundaries } = await run(fresh, { rollback_enable: false, step_limit: 5 }, { kl: 9 });
  expect(boundaries[0]).toMatchObject({ outcome: 'updated', kl: 9 });
});

test('KL is measured at every n-th update only', async () => {
  const { boundaries } = await run(fresh, { log_kl_every_n_updates: 2 }, { kl: 0.6 });
  expect(boundaries.map((b) => [b.outcome, b.kl])).toEqual([
    ['updated', null],
    ['rolled_back_kl', 0.6],
  ]);
});

test('observe-only computes everything and trains nothing', async () => {
  const { boundaries, log, adapter } = await run(fresh, { observe_only: true });
  expect(boundaries.map((b) => b.outcome)).toEqual(['observed', 'observed']);
  expect(boundaries[1]?.tokens?.counts.some((c) => c > 0)).toBe(true);
  expect(log.filter((l) => l === 'measure')).toHaveLength(2);
  expect(adapter()).toBe(0);
});

test('observe-only ends where training would: at the most updates an episode may have', async () => {
  const settings = { max_updates_per_episode: 2, update_interval_k: 1, step_limit: 5 };
  const { boundaries } = await run(fresh, {
    ...{ ...settings, observe_only: true, min_steps_before_first_update: 0 },
  });
  expect(boundaries.map((b) => [b.outcome, b.updates])).toEqual([
    ...[
      ['observed', 0],
      ['observed', 0],
    ],
    ...[
      ['max_updates', 0],
      ['max_updates', 0],
      ['max_updates', 0],
    ],
  ]);
});

test('token weights fall with repetition, and the first token without context has none', async () => {
  const { boundaries } = await run(fresh);
  const [first, second] = boundaries;
  expect(first?.tokens?.weights.slice(0, 3)).toEqual([0, 1, 1]);
  expect(first?.meanWeight).toBe(1);
  // "Thought: " and "\nAction: look" were seen once before.
  expect(second?.tokens?.weights.slice(1, 9)).toEqual(Array(8).fill(0.5));
});

test('what follows the action is context only', async () => {
  const invented = `${fresh[0]}\nObservation: a key`;
  const { boundaries } = await run([invented], { step_limit: 5 });
  const weights = boundaries[0]?.tokens?.weights ?? [];
  const cut = (fresh[0] ?? '').length;
  expect(weights.slice(1, cut).every((w) => w === 1)).toBe(true);
  expect(weights.slice(cut).every((w) => w === 0)).toBe(true);
});

test('source env trains on the observation, by the ids that entered the conversation', async () => {
  const { boundaries, log } = await run(fresh, { text_source: 'env', step_limit: 5 });
  expect(boundaries[0]).toMatchObject({ source: 'env', text: 'You see nothing.' });
  expect(log).toContain('train You see nothing.');
});

test('orders of a person run at once, and a manual update ignores the minimum', async () => {
  const { events } = await run(
    fresh,
    { step_limit: 3 },
    { orders: { 2: ['update_now', 'roll_back_now', 'roll_back_now'] } },
  );
  const manual = events.filter((e) => e.type === 'boundary' || e.type === 'rolled_back');
  expect(manual).toMatchObject([
    { type: 'boundary', t: 2, trigger: 'manual', outcome: 'updated' },
    { type: 'rolled_back', t: 2, restored: true },
    { type: 'rolled_back', t: 2, restored: false },
  ]);
});

test('a step that was trained is not trained again by hand, and nothing is undone', async () => {
  const orders = () => ({
    5: ['update_now', 'update_now', 'roll_back_now', 'update_now'] as Order[],
  });
  for (const over of [{}, { method: 'naive' }, { history: 'all' }] as const) {
    const settings = { ...over, step_limit: 6 };
    const { events, boundaries, log } = await run(fresh, settings, { orders: orders() });
    expect(boundaries.map(({ t, trigger, outcome }) => [t, trigger, outcome])).toEqual([
      [5, 'periodic', 'updated'],
      ...Array(3).fill([5, 'manual', 'skipped_novelty']),
    ]);
    expect(boundaries[1]).toMatchObject({
      why: 'No update: the text of step 5 was accepted for an update already.',
      ...{ ratio: null, novelty: null, nearestStep: null, meanWeight: null, tokens: null },
      ...{ text: boundaries[0]?.text, restored: false, updates: 1 },
    });
    expect(log.filter((line) => line.startsWith('train'))).toHaveLength(1);
    // The person's own rollback, and no other.
    expect(events.at(-1)).toMatchObject({ updates: 1, rollbacks: 1 });
  }
  const observed = await run(
    fresh,
    { observe_only: true, step_limit: 5 },
    { orders: { 5: ['update_now'] } },
  );
  expect(observed.boundaries.map(({ outcome }) => outcome)).toEqual([
    'observed',
    'skipped_novelty',
  ]);
});

test('an update that was refused may be asked for again by hand', async () => {
  const { boundaries } = await run(
    fresh,
    { step_limit: 5 },
    { kl: 0.6, orders: { 5: ['update_now'] } },
  );
  expect(boundaries.map(({ outcome }) => outcome)).toEqual(['rolled_back_kl', 'rolled_back_kl']);
});

test('source env trains what was seen, without the commands that are shown after it', async () => {
  const settings = { text_source: 'env', step_limit: 5 } as const;
  const plain = await run(fresh, settings);
  const shown = await run(fresh, { ...settings, show_admissible: true });
  expect(shown.prompts[1]).toContain(
    '<You see nothing.\nAdmissible commands: look, go to shelf 1>',
  );
  expect(shown.boundaries[0]?.text).toBe('You see nothing.');
  expect(shown.boundaries[0]?.tokens?.ids).toEqual(plain.boundaries[0]?.tokens?.ids);
});

test('a solved task ends at once; a failing world is never the agent’s failure', async () => {
  const solved = await run(fresh, {}, { solvedAt: 4 });
  expect(solved.events.at(-1)).toMatchObject({ reason: 'solved', t: 4, reward: 1 });
  const broken = await run(fresh, {}, { worldFailsAt: 3 });
  expect(broken.events.at(-1)).toMatchObject({
    reason: 'environment_error',
    t: 2,
    error: { code: 'timeout' },
  });
});

test('an abort ends the episode as stopped, with what happened so far kept', async () => {
  const controller = new AbortController();
  const script = scripted(fresh);
  const steps: EpisodeEvent[] = [];
  const { events } = await run(fresh, { step_limit: 1 });
  const started = events[0];
  if (started?.type !== 'episode_started') throw new Error('no start');
  const manifest = {
    ...started.manifest,
    settings: { ...started.manifest.settings, step_limit: 9 },
  };
  for await (const event of runEpisode(manifest, script.ports, controller.signal)) {
    steps.push(event);
    if (event.type === 'step' && event.t === 2) controller.abort();
  }
  expect(steps.at(-1)).toMatchObject({ type: 'episode_ended', reason: 'stopped', t: 2 });
});

/** Runs with the policy's third generation replaced. */
async function endOfRun(generate: () => Promise<never>, signal: AbortSignal) {
  const { events } = await run(fresh, { step_limit: 1 });
  const started = events[0];
  if (started?.type !== 'episode_started') throw new Error('no start');
  const { manifest } = started;
  const script = scripted(fresh);
  let calls = 0;
  const policy: EpisodePorts['policy'] = {
    ...script.ports.policy,
    generate: (...given) => (++calls === 3 ? generate() : script.ports.policy.generate(...given)),
  };
  const all: EpisodeEvent[] = [];
  const ports = { ...script.ports, policy };
  const nine = { ...manifest, settings: { ...manifest.settings, step_limit: 9 } };
  for await (const event of runEpisode(nine, ports, signal)) all.push(event);
  return all.at(-1);
}

test('a read that a lost device gives up ends the run with the loss, not as a wish to stop', async () => {
  const control = new AbortController();
  const unread = new DOMException('mapAsync was aborted', 'AbortError');
  const end = await endOfRun(async () => {
    // The platform's order: the pending read first, then the device's own word.
    setTimeout(() => control.abort(new LabError('device_lost', 'The GPU device was lost.')));
    throw unread;
  }, control.signal);
  expect(end).toMatchObject({
    reason: 'engine_error',
    t: 2,
    error: { code: 'device_lost', message: 'The GPU device was lost.' },
  });
  const silent = await endOfRun(() => Promise.reject(unread), new AbortController().signal);
  expect(silent).toMatchObject({ reason: 'engine_error', error: { code: 'internal' } });
});

test('equal seeds give equal streams and every method draws the same numbers', async () => {
  const draws = (r: { log: string[] }) => r.log.filter((l) => l.startsWith('draw'));
  const a = await run(fresh);
  const b = await run(fresh);
  expect(b.events).toEqual(a.events);
  expect(draws(await run(fresh, { method: 'frozen' }))).toEqual(draws(a));
  expect(draws(await run(fresh, { seed: 2 }))).not.toEqual(draws(a));
});

test('a malformed or inadmissible action is classed, and the step counts', async () => {
  const { steps } = await run(['I will look around.', turn('x', 'fly away'), turn('y')], {
    step_limit: 3,
  });
  expect(steps.map((s) => s.actionClass)).toEqual(['malformed', 'not_admissible', 'effective']);
});

test('a text in its conversation is trained with what the context holds of both, the oldest turns left out', async () => {
  // 1 id a character: the head 27, a turn up to 64 + 18, a prompt of at most 110 of 170.
  const tight = { contextLength: 170 };
  const settings = {
    max_tokens: 60,
    step_limit: 4,
    update_interval_k: 1,
    min_steps_before_first_update: 0,
    novelty_threshold: 0,
    rollback_enable: false,
    train_context: 'conversation',
  } as const;
  for (const text_source of ['self', 'env', 'summary'] as const) {
    const words = ['one', 'two', 'three', 'four'].map((w) => `${w} `.repeat(12));
    const { events, boundaries } = await run(
      fresh,
      { ...settings, text_source },
      { ...tight, summaries: words },
    );
    expect(events.at(-1)).toMatchObject({ reason: 'step_limit' });
    for (const { outcome, tokens } of boundaries) {
      expect(outcome).toBe('updated');
      const length = (tokens?.context?.length ?? 0) + (tokens?.ids.length ?? 0);
      expect(length).toBeLessThanOrEqual(170);
    }
    expect(boundaries[0]?.tokens?.context?.length).toBeGreaterThan(0);
  }
});

test('a text that is longer than the context is not trained, and the run goes on', async () => {
  const summaries = ['word '.repeat(42), 'a short one'];
  const { events, boundaries } = await run(
    fresh,
    {
      ...{ text_source: 'summary', max_tokens: 60, step_limit: 2 },
      ...{ update_interval_k: 1, min_steps_before_first_update: 0 },
    },
    { contextLength: 200, summaries },
  );
  expect(boundaries.map(({ outcome }) => outcome)).toEqual(['no_text', 'updated']);
  expect(boundaries[0]?.why).toContain('10 tokens longer than the context');
  expect(events.at(-1)).toMatchObject({ reason: 'step_limit' });
});
