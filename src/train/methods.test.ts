import { describe, expect, test } from 'vitest';
import {
  actingTrainers,
  defaultSettings,
  type Field,
  type FieldName,
  fields,
  methodNames,
  retrying,
  type Settings,
} from '../config.ts';
import { deriveRng } from '../math/rng.ts';
import type { TrainText } from '../ports.ts';
import { dropAtRandom } from './methods/random-drop.ts';
import { methods, unused, withMethod } from './methods.ts';
import { fresh, run, type Script, stuck, turn } from './testing-episode.ts';

/** Two texts in turn: each boundary's text was seen before, and each step repeats an earlier one. */
const drifting = Array.from({ length: 12 }, (_, i) =>
  turn(`alpha beta gamma delta ${i < 6 ? 'old' : `new${i} more${i} words${i}`}`),
);
const base: Partial<Settings> = {
  step_limit: 12,
  update_interval_k: 3,
  baseline_history_turns: 2,
  // Twelve steps have about 800 ids, one a character.
  context_length: 512,
  baseline_context: 2048,
  max_tokens: 64,
};

/** Everything that a run records, without the settings themselves, and what its policy was asked for. */
async function recordOf(settings: Partial<Settings>, options: Script = {}) {
  const { events, log, prompts } = await run(drifting, { ...base, ...settings }, options);
  const recorded = events.map((event) =>
    event.type === 'episode_started' ? { ...event, manifest: null } : event,
  );
  return JSON.stringify({ recorded, log, prompts });
}

describe('a method', () => {
  test.each(methodNames.filter((name) => name !== 'frozen'))(
    '%s alters something that a frozen run records, or asks of its policy, on the same stream',
    async (method) => {
      const options = { idleWorld: true };
      expect(await recordOf({ method }, options)).not.toBe(
        await recordOf({ method: 'frozen' }, options),
      );
    },
  );

  test.each(methodNames)('%s changes its settings once and for all', (method) => {
    const once = withMethod({ ...defaultSettings, method });
    expect(withMethod(once)).toEqual(once);
  });

  test('of the longer context has a longer context', () => {
    const { context_length } = withMethod({ ...defaultSettings, method: 'long_context' });
    expect(context_length).toBe(defaultSettings.baseline_context);
    expect(context_length).toBeGreaterThan(defaultSettings.context_length);
  });

  test('draws the same numbers as every other at the same step', async () => {
    const drawn = async (method: Settings['method']) =>
      (await run(drifting, { ...base, method })).log.filter((line) => line.startsWith('draw'));
    const frozen = await drawn('frozen');
    for (const method of methodNames.filter((name) => name !== 'reflexion')) {
      expect(await drawn(method), method).toEqual(frozen);
    }
  });

  test('has its settings in the manifest of the run', async () => {
    const { events } = await run(fresh, { method: 'naive' });
    expect(events[0]).toMatchObject({ manifest: { settings: { w_min: 1, novelty_threshold: 0 } } });
  });
});

describe('a setting that does nothing in a method', () => {
  /** Another value that the setting may have. */
  const other = (name: FieldName, value: unknown): unknown => {
    const field: Field = fields[name];
    switch (field.kind) {
      case 'number':
        return value === field.min ? field.max : field.min;
      case 'switch':
        return value !== true;
      case 'text':
        return `${String(value)} and more`;
      case 'choice':
        return field.options.find((option) => option !== value) ?? value;
      case 'list':
        return field.options.filter((option) => !(value as readonly string[]).includes(option));
      default:
        return field satisfies never;
    }
  };
  const texts = [...drifting.slice(0, 8), turn('alpha', 'fly'), ...drifting.slice(8)];
  /** All that is done, down to the weights, and not what is only told of it. */
  const done = async (settings: Partial<Settings>) => {
    const trained: TrainText[] = [];
    const onTrain = (text: TrainText) => trained.push(text);
    const { log, prompts, steps, boundaries } = await run(texts, settings, { kl: 0.6, onTrain });
    const enabled = boundaries.filter(({ outcome }) => outcome !== 'disabled');
    const acts = enabled.map(({ t, outcome, text, meanWeight }) => [t, outcome, text, meanWeight]);
    return { log, prompts, steps: steps.map((step) => ({ ...step, seq: 0 })), acts, trained };
  };

  test.each([
    {},
    { triggers: ['error'] },
    { w_min: 1, kl_divergence_limit: 1 },
    { rollback_enable: false },
    { enabled: false },
    { observe_only: true },
    { log_kl_every_n_updates: 0 },
    { log_kl_every_n_updates: 11 },
    { max_updates_per_episode: 0 },
    { max_updates_per_episode: 1, grad_steps: 1, kl_divergence_limit: 1 },
    { temperature: 0, baseline_temperature: 0 },
  ] satisfies Partial<Settings>[])('changes nothing at %j', async (at) => {
    for (const method of methodNames) {
      const asked: Settings = { ...defaultSettings, ...base, ...at, method };
      const idle = [...unused(asked).keys()];
      expect(idle.length, method).toBeGreaterThan(5);
      const changed = Object.fromEntries(idle.map((name) => [name, other(name, asked[name])]));
      expect(await done({ ...asked, ...changed }), method).toEqual(await done(asked));
    }
  });

  test('is named with why, and one that does something is not', () => {
    const why = (name: FieldName, settings: Partial<Settings> = {}) =>
      unused({ ...defaultSettings, ...settings }).get(name) ?? null;
    expect(why('learning_rate')).toBeNull();
    expect(why('log_kl_every_n_updates')).toBeNull();
    expect(why('observe_only')).toBeNull();
    expect(why('w_min', { observe_only: true })).toBeNull();
    expect(why('temperature', { method: 'frozen' })).toBeNull();
    expect(why('learning_rate', { method: 'static' })).toBeNull();
    expect(why('reflexion_tries', { method: 'reflexion' })).toBeNull();
    expect(why('summary_model', { text_source: 'summary' })).toBeNull();
    expect(why('learning_rate', { method: 'frozen' })).toBe('frozen never trains');
    expect(why('temperature', { method: 'temperature' })).toBe(
      'temperature sets it itself; vary baseline_temperature instead',
    );
    expect(why('summary_model', { text_source: 'summary', method: 'static' })).not.toBeNull();
  });
});

test('naive training weighs every token 1 and is never rolled back', async () => {
  const { boundaries } = await run(stuck, { method: 'naive' }, { kl: 9 });
  expect(boundaries.map((b) => b.outcome)).toEqual(['updated', 'updated']);
  expect(new Set(boundaries[1]?.tokens?.weights.slice(1))).toEqual(new Set([1]));
});

test('the sequence filter trains a text whole or not at all', async () => {
  const { boundaries } = await run(drifting, { ...base, method: 'sequence_filter' });
  const trained = boundaries.filter((b) => b.outcome === 'updated');
  expect(trained.length).toBeGreaterThan(0);
  expect(boundaries.some((b) => b.outcome !== 'updated')).toBe(true);
  for (const b of trained) expect(b.meanWeight).toBe(1);
});

test('random drop keeps as many tokens as the weights sum to, each alike', () => {
  const weights = [0, 1 / 3, 1 / 3, 1 / 3, 1];
  const times = [0, 0, 0, 0, 0];
  for (let seed = 0; seed < 2000; seed++) {
    const kept = dropAtRandom(weights, deriveRng(seed, 'drop'));
    expect(kept.reduce((a, b) => a + b, 0)).toBe(2); // 1/3 + 1/3 + 1/3 + 1
    kept.forEach((w, j) => {
      times[j] = (times[j] ?? 0) + w;
    });
  }
  expect(times[0]).toBe(0);
  // Each of four tokens in half of the 2,000 draws; 4 standard deviations are 90.
  for (const n of times.slice(1)) expect(Math.abs(n - 1000)).toBeLessThan(90);
});

test.each([
  { weights: Array<number>(8).fill(0.05), sum: 0.4, counts: [0, 1] },
  { weights: [0, 1 / 3, 1 / 3, 1], sum: 5 / 3, counts: [1, 2] },
])('random drop keeps $sum tokens on average, where that is no whole number', (given) => {
  const kept = Array.from({ length: 2000 }, (_, seed) =>
    dropAtRandom(given.weights, deriveRng(seed, 'drop')).reduce((a, b) => a + b, 0),
  );
  expect([...new Set(kept)].sort()).toEqual(given.counts);
  // A Bernoulli's standard deviation is at most 1/2; 4 of the mean of 2,000 are 0.045.
  expect(Math.abs(kept.reduce((a, b) => a + b, 0) / 2000 - given.sum)).toBeLessThan(0.045);
});

test('random drop skips a text of which it keeps nothing, and says so', async () => {
  // Two ids, the first without a label: the other weighs 1, then 1/2, then 1/3, … and is kept as often.
  const { boundaries, log } = await run(['ab'], {
    ...{ method: 'random_drop', update_interval_k: 1, min_steps_before_first_update: 0 },
    ...{ novelty_threshold: 0, rollback_enable: false, step_limit: 20, context_length: 4096 },
  });
  const skipped = boundaries.filter(({ outcome }) => outcome === 'no_text');
  expect(boundaries[0]?.outcome).toBe('updated');
  expect(skipped.length).toBeGreaterThan(5);
  expect(skipped[0]).toMatchObject({
    why: 'No update: all tokens of the text were dropped at random.',
    ...{ meanWeight: 0, losses: [] },
  });
  expect(log.filter((line) => line === 'train ab')).toHaveLength(20 - skipped.length);
});

test('random drop trains at the mean weight of aTTT, up to one token', async () => {
  const [attt, drop] = await Promise.all(
    (['attt', 'random_drop'] as const).map((method) => run(fresh, { method })),
  );
  const mean = (r: typeof attt) => r?.boundaries[1]?.meanWeight ?? Number.NaN;
  const tokens = attt?.boundaries[1]?.tokens?.weights.filter((w) => w > 0).length ?? 0;
  expect(mean(attt)).toBeLessThan(1);
  expect(Math.abs(mean(drop) - mean(attt))).toBeLessThan(1 / tokens);
});

test('random drop divides by all tokens that may be trained, as aTTT does', async () => {
  const sequences = await Promise.all(
    (['attt', 'random_drop'] as const).map(async (method) => {
      const trained: TrainText[] = [];
      await run(fresh, { method }, { onTrain: (text) => trained.push(text) });
      return trained;
    }),
  );
  const counts = sequences.map((texts) => texts.map(({ trainable }) => trainable));
  expect(counts[1]).toEqual(counts[0]);
  const weighed = (texts: readonly TrainText[] | undefined) =>
    texts?.map(({ weights }) => weights.filter((w) => w > 0).length);
  expect(weighed(sequences[0])).toEqual(counts[0]);
  expect(weighed(sequences[1])?.[1]).toBeLessThan(counts[0]?.[1] ?? 0);
});

test('static training comes once, before the first step, on the first prompt', async () => {
  const { events, boundaries, log } = await run(fresh, { method: 'static' });
  expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
    'episode_started',
    'boundary',
    'step',
  ]);
  expect(boundaries[0]).toMatchObject({ t: 0, trigger: 'before_acting', outcome: 'updated' });
  expect(boundaries.slice(1).map((b) => b.outcome)).toEqual(['disabled', 'disabled']);
  expect(boundaries[1]?.why).toContain('before the first step only');
  expect(log.filter((line) => line.startsWith('train'))).toHaveLength(1);
});

test('qTTT and In-Place adapt one kind of projection', () => {
  expect(methods.static_q.settings?.(defaultSettings)).toEqual({ target_modules: ['q_proj'] });
  expect(methods.static_in_place.settings?.(defaultSettings)).toEqual({
    target_modules: ['down_proj'],
  });
});

test('the loop breaker samples a turn again whose command just did nothing', async () => {
  const texts = [turn('a', 'look'), turn('b', 'look'), turn('c', 'go to shelf 1'), turn('d')];
  const settings = { method: 'loop_breaker', step_limit: 2 } as const;
  const { steps } = await run(texts, settings, { idleWorld: true });
  expect(steps.map((s) => s.action)).toEqual(['look', 'go to shelf 1']);
  expect(steps[0]?.refused).toBeUndefined();
  expect(steps[1]?.refused).toEqual([
    {
      action: 'look',
      why: '"look" has done nothing since the world last changed.',
      tokens: [...turn('b', 'look')].length,
    },
  ]);
});

test('the loop breaker lets a command be that follows a change, and the last of its tries', async () => {
  const settings = { method: 'loop_breaker', step_limit: 3, loop_breaker_tries: 2 } as const;
  const changing = await run(stuck, settings);
  expect(changing.steps.every((s) => s.refused === undefined)).toBe(true);
  const idle = await run(stuck, settings, { idleWorld: true });
  expect(idle.steps.map((s) => s.refused?.length ?? 0)).toEqual([0, 2, 2]);
});

test('a shorter history leaves the task and the last turns in the prompt', async () => {
  const settings = { method: 'short_history', baseline_history_turns: 2, step_limit: 5 } as const;
  const { prompts } = await run(fresh, settings);
  expect(prompts[4]).toContain('Task: look around.');
  expect(prompts[4]).not.toContain('beta1');
  expect(prompts[4]).toContain('gamma1');
  expect(prompts[4]).toContain('delta1');
});

test('the methods that train while they act are those that may ask for summaries', () => {
  expect(actingTrainers).toEqual(
    methodNames.filter((name) => methods[name].trains === 'while_acting'),
  );
});

test('the methods that reflect are those that try a failed task again', () => {
  expect(retrying).toEqual(methodNames.filter((name) => methods[name].reflects));
});

test('each try of Reflexion draws numbers of its own, the first those of every method', async () => {
  const settings = { method: 'reflexion', step_limit: 2, reflexion_tries: 4 } as const;
  const drawn = async (...reflections: string[]) =>
    (await run(fresh, settings, {}, undefined, reflections)).log.filter((line) =>
      line.startsWith('draw'),
    );
  const tries = [await drawn(), await drawn('one'), await drawn('one', 'two')];
  // Two steps and the reflection in each.
  expect(new Set(tries.flat()).size).toBe(9);
  expect(await drawn('one')).toEqual(tries[1]);
  const frozen = await run(fresh, { ...settings, method: 'frozen' });
  expect(frozen.log.filter((line) => line.startsWith('draw'))).toEqual(tries[0]?.slice(0, 2));
});

test('Reflexion writes after a failure, and the next try begins with it', async () => {
  const texts = [...fresh.slice(0, 2), 'Look at the shelf first.'];
  const settings = { method: 'reflexion', step_limit: 2 } as const;
  const { events, prompts } = await run(texts, settings);
  const ended = events.at(-1);
  if (ended?.type !== 'episode_ended') throw new Error('no end');
  expect(ended.reflection?.text).toBe('Look at the shelf first.');
  expect(prompts.at(-1)).toContain('what went wrong');
  const next = await run(fresh, settings, {}, undefined, ['Look at the shelf first.']);
  expect(next.prompts[0]).toContain('- Look at the shelf first.');
  const solved = await run(texts, settings, { solvedAt: 1 });
  expect(solved.events.at(-1)).not.toHaveProperty('reflection');
  // The last of three tries has none after it to write for.
  const last = await run(texts, { ...settings, reflexion_tries: 3 }, {}, undefined, ['one', 'two']);
  expect(last.events.at(-1)).not.toHaveProperty('reflection');
});

test('a reflection takes at most half the context, however many tokens it may have', async () => {
  const settings = { method: 'reflexion', step_limit: 1, max_tokens: 60 } as const;
  const rooms = async (reflection_tokens: number) => {
    const { events, rooms } = await run(fresh, { ...settings, reflection_tokens });
    expect(events.at(-1)).toHaveProperty('reflection');
    return rooms;
  };
  expect(await rooms(128)).toEqual([60, 128]);
  expect(await rooms(8192)).toEqual([60, 2048]); // of 4,096
});

test('where no reflection fits, the end says why no try follows', async () => {
  // One id a character: the question alone has 150.
  const tight = { contextLength: 100 };
  const settings = { method: 'reflexion', step_limit: 1 } as const;
  const { events } = await run(['Action: look'], settings, tight);
  expect(events.at(-1)).toMatchObject({
    reason: 'step_limit',
    noReflection:
      'No try follows: the last turn and a reflection of 50 tokens do not fit into the context of 100.',
  });
  expect(events.at(-1)).not.toHaveProperty('reflection');
  const atOnce = await run(fresh, settings, { contextLength: 40 });
  expect(atOnce.events.at(-1)).toMatchObject({
    ...{ reason: 'context_full', t: 0 },
    noReflection: 'No try follows: no step was taken that could be reflected on.',
  });
  for (const none of [{ ...settings, reflexion_tries: 1 }, { step_limit: 1 }]) {
    const { events: last } = await run(['Action: look'], none, tight);
    expect(last.at(-1)).not.toHaveProperty('noReflection');
  }
});

test('a try that fills the context is reflected on as any other that failed', async () => {
  // The first prompt has 26 ids, a turn 162 and what follows it 18: more than 400 − 200. The question has 150.
  const texts = [turn('x'.repeat(140)), 'Write less.'];
  const settings = { method: 'reflexion', max_tokens: 200, reflection_tokens: 10 } as const;
  const { events } = await run(texts, settings, { contextLength: 400 });
  expect(events.at(-1)).toMatchObject({
    ...{ reason: 'context_full', t: 1 },
    reflection: { text: 'Write less.' },
  });
});

test('a later try begins with the last three reflections', async () => {
  const settings = { method: 'reflexion', step_limit: 1, reflexion_tries: 9 } as const;
  const { prompts } = await run(fresh, settings, {}, undefined, ['one', 'two', 'three', 'four']);
  expect(prompts[0]).toContain('What you wrote after earlier tries:\n- two\n- three\n- four\n');
});

describe('the history of the n-gram counts', () => {
  const texts = [
    ...Array.from({ length: 4 }, (_, i) => turn(`first${i}`)),
    ...['nothing alike', 'shared words here', 'x', 'y', 'z', 'shared words here'].map((w) =>
      turn(w),
    ),
  ];
  const counts = async (history: Settings['history']) =>
    (await run(texts, { history, novelty_threshold: 0 })).boundaries[1]?.tokens?.counts ?? [];

  test('is the accepted update texts, or all earlier texts of the episode', async () => {
    // "shared" stood in step 6 alone, which no update trained on; "Thought: " in all nine.
    const at = 'Thought: sha'.length;
    const [accepted, all] = [await counts('accepted'), await counts('all')];
    expect([accepted[at], all[at]]).toEqual([0, 1]);
    expect([accepted[0], all[0]]).toEqual([1, 9]);
  });
});

describe('a trigger', () => {
  const only = (trigger: Settings['triggers'][number], more: Partial<Settings> = {}) => ({
    triggers: [trigger],
    min_steps_before_first_update: 0,
    step_limit: 4,
    ...more,
  });
  const texts = [turn('one'), turn('two', 'fly'), turn('three'), turn('three')];

  test('on errors asks after a command that the world does not accept', async () => {
    const { boundaries } = await run(texts, only('error'));
    expect(boundaries.map((b) => [b.t, b.trigger, b.outcome])).toEqual([[2, 'error', 'updated']]);
    expect(boundaries[0]?.cause).toBe('Step 2 failed: the world does not accept its command.');
  });

  test('on errors asks after a test that fails, though the world did as told', async () => {
    const { boundaries, steps } = await run(
      texts.map((text) => text.replace('fly', 'look')),
      only('error'),
      { failsAt: 3, idleWorld: true },
    );
    expect(steps.map((step) => step.failed)).toEqual([undefined, undefined, true, undefined]);
    expect(steps[2]?.actionClass).toBe('without_effect');
    expect(boundaries.map((b) => [b.t, b.trigger])).toEqual([[3, 'error']]);
    expect(boundaries[0]?.cause).toBe('Step 3 failed: a test that it ran fails.');
  });

  test('on repetition asks after a step that repeats an earlier one', async () => {
    const { boundaries } = await run(texts, only('repetition'));
    expect(boundaries.map((b) => [b.t, b.trigger])).toEqual([[4, 'repetition']]);
    expect(boundaries[0]?.cause).toContain('1.00, at or above 0.80');
  });

  test('on low confidence asks after unlikely tokens', async () => {
    const sure = await run(texts, only('low_confidence'), { logprob: -0.5 });
    expect(sure.boundaries).toEqual([]);
    const unsure = await run(texts, only('low_confidence'), { logprob: -0.51 });
    expect(unsure.boundaries.map((b) => b.t)).toEqual([1, 2, 3, 4]);
  });

  test('on high entropy asks after an undecided step, and never where none is known', async () => {
    const at = async (script: Script) =>
      (await run(texts, only('high_entropy'), script)).boundaries.map((b) => b.t);
    expect(await at({ entropy: 0.5 })).toEqual([1, 2, 3, 4]);
    expect(await at({ entropy: 0.49 })).toEqual([]);
    expect(await at({})).toEqual([]);
  });

  test('of a union asks once a step, and the first of the table is named', async () => {
    const { boundaries } = await run(
      texts,
      only('error', { triggers: ['error', 'periodic', 'repetition'], update_interval_k: 2 }),
    );
    expect(boundaries.map((b) => [b.t, b.trigger])).toEqual([
      [2, 'periodic'],
      [4, 'periodic'],
    ]);
  });
});

describe('regularisers at a boundary', () => {
  test('replay trains earlier accepted texts along, and counts their tokens', async () => {
    const { log, boundaries } = await run(fresh, { replay_texts: 3 });
    expect(log.filter((line) => line.startsWith('replay'))).toEqual([`replay ${fresh[4]}`]);
    expect(boundaries.map((b) => b.replayed)).toEqual([0, 1]);
    // One gradient step is in the scripted losses; each text trains all ids but its first.
    const length = (i: number) => [...(fresh[i] ?? '')].length - 1;
    expect(boundaries.map((b) => b.trainedTokens)).toEqual([length(4), length(9) + length(4)]);
  });

  test('quick validation undoes the one update that makes held texts worse', async () => {
    const worse = await run(fresh, { validation_texts: 2 }, { heldAfter: 1.5 });
    expect(worse.boundaries.map((b) => [b.outcome, b.updates])).toEqual([
      ['discarded_check', 0],
      ['discarded_check', 0],
    ]);
    expect(worse.boundaries[0]?.check).toEqual({
      ...{ texts: 2, source: 'self', before: 1, after: 1.5 },
    });
    expect(worse.events.at(-1)).toMatchObject({ updates: 0, rollbacks: 0 });
    const better = await run(fresh, { validation_texts: 2 }, { heldAfter: 0.9 });
    expect(better.boundaries.map((b) => b.outcome)).toEqual(['updated', 'updated']);
  });

  test('quick validation passes over turns that give nothing to score', async () => {
    // The fourth turn has one id, and without context the first id has no label.
    const texts = fresh.map((text, i) => (i === 3 ? 'x' : text));
    const { boundaries } = await run(texts, { validation_texts: 1, step_limit: 5 });
    expect(boundaries.map((b) => b.check)).toEqual([
      { texts: 1, source: 'self', before: 1, after: 1 },
    ]);
  });

  const every = { update_interval_k: 1, min_steps_before_first_update: 0 };
  const written = fresh.map((_, i) => `word${i} other${i} third${i}`);
  test.each([
    { name: 'every step', settings: every, held: 'env' },
    { name: 'every answer', settings: { ...every, text_source: 'env' }, held: 'self' },
    { name: 'summaries', settings: { text_source: 'summary' }, held: 'env' },
    { name: 'every summary', settings: { ...every, text_source: 'summary' }, held: 'env' },
  ] as const)('where $name is trained, what is not is held: $held', async (given) => {
    const settings = { ...given.settings, validation_texts: 2, novelty_threshold: 0 };
    const off = { ...settings, rollback_enable: false };
    const { boundaries } = await run(fresh, off, { heldAfter: 1, summaries: written });
    expect(boundaries.length).toBeGreaterThan(1);
    for (const { outcome, check, t } of boundaries) {
      expect(outcome).toBe('updated');
      expect(check).toMatchObject({ texts: Math.min(2, t), source: given.held });
    }
    const worse = await run(fresh, off, { heldAfter: 1.5, summaries: written });
    expect(worse.boundaries[0]?.outcome).toBe('discarded_check');
  });

  test('where nothing is there to hold, the boundary says so', async () => {
    const { boundaries } = await run(fresh, { method: 'static', validation_texts: 2 });
    expect(boundaries[0]).toMatchObject({ outcome: 'updated', check: null });
    expect(boundaries[0]?.why).toMatch(/ There was no held text to check it with\.$/);
  });
});
