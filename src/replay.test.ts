import { expect, test } from 'vitest';
import { defaultSettings } from './config.ts';
import { runEpisode } from './episode.ts';
import type { EpisodePorts, Order } from './ports.ts';
import type { EpisodeEvent, LearnerSnapshot, RunManifest } from './records.ts';
import { forkEpisode, resumable, resumeEpisode } from './replay.ts';

const task = { env: 'test/Hall-v0', split: 'train', index: 0 };
const manifest = {
  schema: 2,
  task,
  settings: {
    ...defaultSettings,
    step_limit: 8,
    update_interval_k: 2,
    min_steps_before_first_update: 2,
  },
} as RunManifest; // the loop reads the settings and the task alone

/**
 * Ports of a small world in which everything depends on everything: what is written depends on the
 * prompt, the random stream and the adapter; the adapter on every text it was trained on; the world
 * on every action.
 */
function hall(orders: Readonly<Record<number, readonly Order[]>> = {}, shift = 0) {
  let adapter = 1;
  let stored = 1;
  let world = 0;
  let sampled = 0;
  const asked: number[] = [];
  const waiting = new Map(Object.entries(orders).map(([t, list]) => [Number(t), [...list]]));
  const mix = (list: readonly number[]) => list.reduce((sum, x) => (sum * 31 + x) % 9973, 7);
  const ids = (text: string) => [...text].map((c) => c.codePointAt(0) ?? 0);
  const decode = (list: readonly number[]) => String.fromCodePoint(...list);
  const snapshot = (): LearnerSnapshot => ({
    schema: 1,
    adapter: { modules: [] },
    optimiser: { step: adapter, m: [], v: [] },
  });
  const view = () => ({
    observation: `You are at ${world}.`,
    admissible: null,
    reward: 0,
    terminated: false,
    stateHash: String(world + shift),
  });
  const ports: EpisodePorts = {
    policy: {
      contextLength: 4096,
      begin: (messages) => ids(messages.map((m) => m.content).join('')),
      follow: (_, message) => ({ ids: ids(message.content), content: [0, 1] }),
      async generate(prompt, _settings, _max, rng) {
        sampled++;
        const n = mix([...prompt, adapter, Math.floor(rng.next() * 1e6)]);
        const text = `Thought: word${n} seems ${n % 3}\nAction: go to shelf ${n}`;
        return { promptTokens: 1, ids: ids(text), logprobs: [], text, stop: 'eos' };
      },
    },
    learner: {
      bos: [],
      pieces: (list) => list.map((id) => decode([id])),
      decode,
      encode: ids,
      async train(window) {
        const list = window.flatMap(({ ids }) => ids);
        adapter = mix([adapter, ...list]);
        const ce = (window[0]?.ids ?? []).map(() => adapter / 1e4);
        return { losses: [adapter, 0], gradNorms: [adapter], ceBefore: ce, ceAfter: ce };
      },
      measure: async (text) => text.ids.map(() => 1),
      async driftFromStart({ ids: list }) {
        const meanKl = adapter % 3 === 0 ? 2 : 0.1; // one update in three drifts
        const none = list.map(() => null);
        return { meanKl, kl: none, entropy: none, likeliest: list.map(() => []) };
      },
      klAtPrompt: async () => adapter / 1e4,
      deltaNorm: async () => adapter,
      snapshot: async () => snapshot(),
      restore(from) {
        adapter = from.optimiser.step;
      },
    },
    summaries: {
      async write({ steps }) {
        asked.push(steps.length);
        const text = `so far ${mix(steps.flatMap(({ generation }) => generation.ids))} words`;
        return { model: 'teller', text, ids: ids(text), stop: 'eos' };
      },
    },
    world: {
      async reset() {
        world = 0;
        return view();
      },
      async step(action) {
        world = mix([world, ...ids(action)]);
        return view();
      },
    },
    snapshots: {
      async save(one) {
        stored = one.optimiser.step;
      },
      load: async () => ({ ...snapshot(), optimiser: { step: stored, m: [], v: [] } }),
    },
    nextOrder: async (t) => waiting.get(t)?.shift() ?? 'continue',
    onProgress: () => {},
  };
  return { ports, asked, sampled: () => sampled };
}

const never = new AbortController().signal;

async function all(events: AsyncIterable<EpisodeEvent>): Promise<EpisodeEvent[]> {
  const list: EpisodeEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const orders = { 3: ['update_now', 'roll_back_now'], 5: ['roll_back_now'] } as const;
const whole = await all(runEpisode(manifest, hall(orders).ports, never));

test('the run of this test has updates, a refused one and manual orders, so that it can tell', () => {
  const kinds = whole.map((e) => (e.type === 'boundary' ? `${e.trigger} ${e.outcome}` : e.type));
  expect(kinds).toContain('manual updated');
  expect(kinds).toContain('rolled_back');
  expect(kinds).toContain('periodic updated');
});

test('from wherever it was cut, a run goes on exactly as it would have, and samples nothing twice', async () => {
  for (let cut = 1; cut < whole.length; cut++) {
    const record = whole.slice(0, cut);
    const done = record.filter((event) => event.type === 'step').length;
    // What was asked for after the last recorded step and is recorded will not be asked for again.
    const asked = (t: number) => record.filter((e) => e.type !== 'step' && 't' in e && e.t === t);
    const left = Object.fromEntries(
      Object.entries(orders).map(([t, list]) => [
        t,
        list.slice(
          asked(Number(t)).filter((e) => e.type === 'rolled_back' || e.type === 'boundary').length,
        ),
      ]),
    );
    const { ports, sampled } = hall(left);
    const rest = await all(resumeEpisode(manifest, record, ports, never, () => {}));
    expect(rest).toEqual(whole.slice(cut));
    expect(sampled()).toBe(8 - done);
  }
});

test('a step asked for again by hand ends in a replay as it was recorded, in a fork as it does now', async () => {
  const again = { 4: ['update_now', 'update_now'] } as const;
  const now = await all(runEpisode(manifest, hall(again).ports, never));
  // As versions recorded it that took such a request: compared with itself, r = 1 undid the update.
  const before = await all(
    runEpisode(manifest, hall({ 4: ['update_again', 'update_again'] }).ports, never),
  );
  const outcomes = (events: readonly EpisodeEvent[]) =>
    events.flatMap((e) => (e.type === 'boundary' && e.t === 4 ? [e.outcome] : []));
  expect(outcomes(now)).toEqual(['updated', 'skipped_novelty', 'skipped_novelty']);
  expect(outcomes(before)).toEqual(['updated', 'rolled_back_ratio', 'rolled_back_ratio']);
  for (const [orders, events] of [
    [again, now],
    [{}, before],
  ] as const) {
    const cut = events.findIndex((e) => e.type === 'step' && e.t === 5);
    const { ports } = hall(orders === again ? {} : orders);
    expect(
      await all(resumeEpisode(manifest, events.slice(0, cut), ports, never, () => {})),
    ).toEqual(events.slice(cut));
    expect(outcomes(await all(forkEpisode(manifest, events, 8, hall().ports, never)))).toEqual(
      outcomes(now),
    );
  }
});

test('summaries of the record are taken from it: a run is repeated without whoever wrote them', async () => {
  const told: RunManifest = {
    ...manifest,
    settings: { ...manifest.settings, text_source: 'summary', novelty_threshold: 0 },
  };
  const first = hall();
  const events = await all(runEpisode(told, first.ports, never));
  expect(first.asked).toEqual([2, 4, 6, 8]);
  for (let cut = 1; cut < events.length; cut++) {
    const record = events.slice(0, cut);
    const { ports, asked } = hall();
    expect(await all(resumeEpisode(told, record, ports, never, () => {}))).toEqual(
      events.slice(cut),
    );
    expect(asked).toEqual(first.asked.slice(record.filter((e) => e.type === 'boundary').length));
  }
});

test('a record that another world or model has made is refused, and nothing is yielded', async () => {
  const record = whole.slice(0, 4);
  const resumed = all(resumeEpisode(manifest, record, hall(orders, 1).ports, never, () => {}));
  await expect(resumed).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringMatching(/cannot be taken up.*repeating it gives/),
  });
});

test('a stop while the record is repeated ends the run where its record ends, as a stop there would have', async () => {
  let compared = 0;
  for (let cut = 2; cut < whole.length; cut++) {
    const expected = await stoppedAfter(cut);
    // These ports train without asking for a stop: a boundary that is due still comes, as does the last end.
    if (expected?.seq !== cut || cut === whole.length - 1) continue;
    compared++;
    const record = whole.slice(0, cut);
    const stop = new AbortController();
    const { ports } = hall(orders);
    const rest = await all(
      resumeEpisode(manifest, record, ports, stop.signal, (done) => {
        if (done === 1) stop.abort();
      }),
    );
    expect(rest).toEqual([expected]);
    expect(resumable([...record, ...rest])).toEqual(record);
  }
  expect(compared).toBeGreaterThan(6);
});

/** The last event of a run that is stopped once it has given `events` events. */
async function stoppedAfter(events: number): Promise<EpisodeEvent | undefined> {
  const stop = new AbortController();
  const { ports } = hall(orders);
  let last: EpisodeEvent | undefined;
  for await (const event of runEpisode(manifest, ports, stop.signal)) {
    last = event;
    if (event.seq === events - 1) stop.abort();
  }
  return last;
}

test('while the record is repeated the ports tell nothing of their own', async () => {
  const record = whole.slice(0, 9);
  const { ports } = hall(orders);
  const told: string[] = [];
  const onProgress: EpisodePorts['onProgress'] = ({ type, t }) => told.push(`${type} ${t}`);
  const resumed = resumeEpisode(manifest, record, { ...ports, onProgress }, never, (done) => {
    told.push(`repeated ${done}`);
  });
  await all(resumed);
  expect(told.slice(0, 9)).toEqual(record.map((_, i) => `repeated ${i + 1}`));
  expect(told.length).toBeGreaterThan(9);
});

test('only a run that did not come to its own end can be taken up', () => {
  const end = whole.at(-1);
  if (end?.type !== 'episode_ended') throw new Error('the run ends');
  expect(resumable(whole)).toBeNull();
  expect(resumable([...whole.slice(0, -1), { ...end, reason: 'stopped' }])).toEqual(
    whole.slice(0, -1),
  );
  expect(resumable(whole.slice(0, 5))).toEqual(whole.slice(0, 5));
  expect(resumable([])).toBeNull();
});

test('a fork writes the recorded steps again, trains under its own settings and then goes its own way', async () => {
  const still = { ...manifest, settings: { ...manifest.settings, enabled: false } };
  const { ports, sampled } = hall();
  const forked = await all(forkEpisode(still, whole, 2, ports, never));
  const texts = (events: readonly EpisodeEvent[]) =>
    events.flatMap((event) => (event.type === 'step' ? [event.generation.text] : []));
  expect(texts(forked).slice(0, 2)).toEqual(texts(whole).slice(0, 2));
  // The run itself has trained after step 2; the fork may not.
  expect(texts(forked)[2]).not.toBe(texts(whole)[2]);
  expect(sampled()).toBe(6);
  const updates = forked.filter((e) => e.type === 'boundary' && e.outcome === 'updated');
  expect(updates).toHaveLength(0);
});

test('a fork at the last step with equal settings is the run itself', async () => {
  const { ports } = hall();
  expect(await all(forkEpisode(manifest, whole, 8, ports, never))).toEqual(whole);
});

test('a later try of a task goes on and is forked with the numbers that it draws itself', async () => {
  const settings = { ...manifest.settings, method: 'reflexion' } as const;
  const second: RunManifest = { ...manifest, settings, reflections: ['Go back.'] };
  const tried = await all(runEpisode(second, hall().ports, never));
  const end = tried.at(-1);
  expect(end?.type === 'episode_ended' && end.reflection?.text).toMatch(/^Thought: word/);
  for (let cut = 1; cut < tried.length; cut++) {
    const record = tried.slice(0, cut);
    const rest = await all(resumeEpisode(second, record, hall().ports, never, () => {}));
    expect(rest).toEqual(tried.slice(cut));
  }
  expect(await all(forkEpisode(second, tried, 4, hall().ports, never))).toEqual(tried);
});

test('a fork of a run with refused turns keeps each recorded turn at its step, whatever either method refuses', async () => {
  const writer = (text: (prompt: readonly number[]) => string): EpisodePorts => {
    const { ports } = hall();
    const still = async () => ({ ...(await ports.world.reset(task, never)) }); // nothing changes it
    const generate: EpisodePorts['policy']['generate'] = async (prompt) => ({
      promptTokens: 1,
      ids: [1],
      logprobs: [-1],
      text: `Action: ${text(prompt)}`,
      stop: 'eos',
    });
    return {
      ...ports,
      policy: { ...ports.policy, generate },
      world: { reset: still, step: still },
    };
  };
  const breaker = {
    ...manifest,
    settings: {
      ...manifest.settings,
      method: 'loop_breaker',
      step_limit: 4,
      loop_breaker_tries: 2,
    },
  } as RunManifest;
  let drawn = 0;
  const script = ['a', 'a', 'b', 'c', 'c', 'b', 'a']; // 'a', then 'b' and 'c', then no way out
  const record = await all(
    runEpisode(
      breaker,
      writer(() => script[drawn++] ?? 'z'),
      never,
    ),
  );
  const actions = (events: readonly EpisodeEvent[]) =>
    events.flatMap((event) => (event.type === 'step' ? [event.action] : []));
  const refusals = (events: readonly EpisodeEvent[]) =>
    events.flatMap((event) => (event.type === 'step' ? [event.refused?.length ?? 0] : []));
  expect(actions(record)).toEqual(['a', 'b', 'c', 'a']);
  expect(refusals(record)).toEqual([0, 1, 0, 2]);

  const frozen = { ...breaker, settings: { ...breaker.settings, method: 'frozen' } } as const;
  for (const settings of [frozen.settings, breaker.settings]) {
    let asked = 0;
    const ports = writer(() => `new ${asked++}`);
    const forked = await all(forkEpisode({ ...breaker, settings }, record, 4, ports, never));
    expect(actions(forked)).toEqual(['a', 'b', 'c', 'a']);
    expect(refusals(forked)).toEqual([0, 0, 0, 0]);
    expect(asked).toBe(0);
  }
  drawn = 0;
  const cut = record.slice(0, 5);
  const rest = await all(
    resumeEpisode(
      breaker,
      cut,
      writer(() => script[[1, 4, 5, 6][drawn++] ?? 0] ?? 'z'),
      never,
      () => {},
    ),
  );
  expect(actions([...cut, ...rest])).toEqual(['a', 'b', 'c', 'a']);
});

test('what the record is told to wait for at its end is done before the run goes on', async () => {
  const log: string[] = [];
  const { ports } = hall(orders);
  const resumed = resumeEpisode(manifest, whole.slice(0, 5), ports, never, async (done) => {
    await new Promise((resolve) => setTimeout(resolve));
    log.push(`repeated ${done}`);
  });
  for await (const event of resumed) log.push(`new ${event.seq}`);
  expect(log.slice(3, 6)).toEqual(['repeated 4', 'repeated 5', 'new 5']);
});
