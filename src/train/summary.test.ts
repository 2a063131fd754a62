/** Update text "summary": when one is asked for, what is trained, and what becomes of a failure. */

import { expect, test } from 'vitest';
import { defaultSettings, type Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { deriveRng } from '../math/rng.ts';
import type { Policy } from '../ports.ts';
import type { StepTaken } from '../records.ts';
import { ownSummaries } from './summary.ts';
import { fresh, run, turn } from './testing-episode.ts';

const settings = { text_source: 'summary', update_interval_k: 2 } as const;
const early = { ...settings, min_steps_before_first_update: 3 };
const summaries = ['one two three four', 'five six seven eight', 'five six seven nine'];

test('a summary of all steps so far is what is trained, compared and recorded', async () => {
  const { boundaries, log } = await run(fresh, { ...early, step_limit: 8 }, { summaries });
  expect(boundaries.map(({ t, outcome, text }) => [t, outcome, text])).toEqual([
    [2, 'too_early', ''],
    [4, 'updated', 'one two three four'],
    [6, 'updated', 'five six seven eight'],
    [8, 'skipped_novelty', 'five six seven nine'],
  ]);
  // 3 words of 5 in all.
  expect(boundaries[3]).toMatchObject({ ratio: 0.6, nearestStep: 6 });
  expect(boundaries[0]).not.toHaveProperty('summary');
  expect(boundaries[1]?.summary).toEqual({
    model: 'teller',
    ids: [...'one two three four'].map((c) => c.codePointAt(0)),
    stop: 'eos',
  });
  expect(log.filter((line) => /^(summary|train)/.test(line))).toEqual([
    'summary of 4 after Task: look around.\nA room.',
    'train one two three four',
    'summary of 6 after Task: look around.\nA room.',
    'train five six seven eight',
    'summary of 8 after Task: look around.\nA room.',
  ]);
});

test('nobody is asked where nothing could be trained', async () => {
  for (const still of [{ enabled: false }, { method: 'frozen' }] as const) {
    const { boundaries, log } = await run(fresh, { ...settings, ...still }, { summaries });
    expect(boundaries.map(({ outcome }) => outcome)).toContain('disabled');
    expect(log.filter((line) => line.startsWith('summary'))).toEqual([]);
  }
});

test('with all texts as history, counts come from every earlier summary, trained or not', async () => {
  const texts = ['aaa bbb', 'aaa bbb', 'aaa bbb'];
  const asked = { ...settings, min_steps_before_first_update: 0 };
  const rules = { rollback_enable: false, step_limit: 6 } as const;
  const all = await run(fresh, { ...asked, ...rules, history: 'all' }, { summaries: texts });
  expect(all.boundaries.map(({ tokens }) => tokens?.counts[0])).toEqual([0, 1, 2]);
  const kept = await run(fresh, { ...asked, ...rules }, { summaries: texts });
  expect(kept.boundaries.map(({ tokens }) => tokens?.counts[0])).toEqual([0, 1, 1]);
});

test('nobody is asked once all updates are used, unless what is written could roll something back', async () => {
  const asked = { ...settings, min_steps_before_first_update: 0, step_limit: 6 };
  const told = async (over: Partial<Settings>) => {
    const { boundaries, log } = await run(fresh, { ...asked, ...over }, { summaries });
    const outcomes = boundaries.map(({ outcome }) => outcome);
    return [...outcomes, log.filter((line) => line.startsWith('summary')).length];
  };
  const one = { max_updates_per_episode: 1 };
  const off = { ...one, rollback_enable: false };
  expect(await told(off)).toEqual(['updated', 'max_updates', 'max_updates', 1]);
  expect(await told(one)).toEqual(['updated', 'max_updates', 'max_updates', 3]);
  // With nothing accepted there is nothing that a summary could repeat.
  const none = { max_updates_per_episode: 0 };
  expect(await told(none)).toEqual(['max_updates', 'max_updates', 'max_updates', 0]);
});

test('an empty summary is a boundary without a text', async () => {
  const { boundaries } = await run(fresh, { ...early, step_limit: 4 }, { summaries: [''] });
  expect(boundaries[1]).toMatchObject({ outcome: 'no_text', ratio: null, text: '' });
});

test('a summary that does not come ends the episode by its name, with nothing trained', async () => {
  const failing = new LabError(
    'network',
    'No summary of the first 6 steps came. The answer was cut.',
  );
  const { events, boundaries, adapter } = await run(fresh, early, {
    summaries: ['one two', failing],
  });
  expect(boundaries.map(({ outcome }) => outcome)).toEqual(['too_early', 'updated']);
  expect(events.at(-1)).toMatchObject({
    reason: 'engine_error',
    t: 6,
    updates: 1,
    error: { code: 'network', message: failing.message },
  });
  expect(adapter()).toBe(1);
});

test('without a summary model the policy answers the question in its own conversation, at the summary temperature', async () => {
  const asked: { prompt: readonly number[]; temperature: number; room: number }[] = [];
  const policy: Policy = {
    contextLength: 100,
    begin: () => [],
    follow: (_, message) => {
      expect(message.content).toMatch(/^You see a cup\.\n\nIn a few sentences/);
      return { ids: [7, 8], content: [0, 1] };
    },
    async generate(prompt, { temperature }, room) {
      asked.push({ prompt, temperature, room });
      return {
        promptTokens: 5,
        ids: [40, 41, 2],
        logprobs: [0, 0, 0],
        text: ' so far. ',
        stop: 'eos',
      };
    },
  };
  const step: StepTaken = {
    type: 'step',
    seq: 1,
    t: 1,
    generation: { promptTokens: 1, ids: [3, 4], logprobs: [0, 0], text: turn('a'), stop: 'eos' },
    thought: 'a',
    action: 'look',
    actionClass: 'effective',
    observation: 'You see a cup.',
    observationIds: [5],
    observationSpan: [0, 1],
    reward: 0,
    terminated: false,
    stateHash: '',
    repetition: 0,
  };
  const prior = { head: [1], turns: [[2]] };
  const { signal } = new AbortController();
  const write = (over: Partial<typeof defaultSettings>) =>
    ownSummaries(policy).write(
      { task: 'Task', steps: [step], prior },
      { ...defaultSettings, ...over },
      deriveRng(1, 'summary'),
      signal,
    );
  expect(await write({})).toEqual({
    ...{ model: null, text: 'so far.', ids: [40, 41, 2], stop: 'eos', question: [7, 8] },
  });
  expect(asked).toEqual([{ prompt: [1, 2, 3, 4, 7, 8], temperature: 0.2, room: 50 }]);
  // Six ids and room for four do not fit into seven.
  expect(await write({ context_length: 7 })).toMatchObject({ text: '', ids: [] });
});
