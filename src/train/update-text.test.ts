/** The ids of an update text and of what it stands after. */

import { expect, test } from 'vitest';
import { defaultSettings, type Settings } from '../config.ts';
import type { Learner } from '../ports.ts';
import type { StepTaken, Summary } from '../records.ts';
import { scripted } from './testing-episode.ts';
import { observationSpan, type Turn, updateText } from './update-text.ts';

const { learner } = scripted([]).ports;
const ids = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

/** Three ids sampled after `head`, then an observation of two within its template's. */
function turnAfter(head: readonly number[], more: Partial<Turn> = {}): Turn {
  const step: StepTaken = {
    ...{ type: 'step', seq: 1, t: 1, thought: '', action: 'look', actionClass: 'effective' },
    generation: {
      promptTokens: 1,
      ids: [901, 902, 903],
      logprobs: [0, 0, 0],
      text: 'a',
      stop: 'eos',
    },
    ...{ observation: 'b', observationIds: [910, 911, 912, 913], observationSpan: [1, 3] },
    ...{ reward: 0, terminated: false, stateHash: '', repetition: 0 },
  };
  return { step, text: 'a', ignoredFrom: null, prior: { head, turns: [] }, ...more };
}

const contextOf = (turn: Turn, text_source: Settings['text_source'], limit = 4096) => {
  const settings = { ...defaultSettings, text_source, train_context: 'conversation' } as const;
  return updateText(turn, settings, { ...learner, bos: [1] }, limit).context;
};

test('a summary stands after the conversation that it was sampled in: after its question', () => {
  const own: Summary = {
    ...{ text: 'so far', model: null, ids: [930, 931], stop: 'eos', question: [920, 921] },
  };
  const head = [5, 6];
  expect(contextOf(turnAfter(head, { summary: own }), 'summary')).toEqual([
    ...[5, 6, 901, 902, 903, 920, 921],
  ]);
  // One that a server wrote, or of an older record, stands where the next turn would.
  const { question: _, ...served } = { ...own, model: 'teller' };
  expect(contextOf(turnAfter(head, { summary: served }), 'summary')).toEqual([
    ...[5, 6, 901, 902, 903, 910, 911, 912, 913],
  ]);
});

test('a text has at most 1,024 ids before it, and stands alone where the head has more', () => {
  const of = (count: number, source: Settings['text_source']) =>
    contextOf(turnAfter(ids(count)), source);
  expect(of(1024, 'self')).toEqual(ids(1024));
  expect(of(1025, 'self')).toEqual([1]);
  // The sampled turn and an opening of one id are between the head and an observation.
  expect(of(1020, 'env')).toEqual([...ids(1020), 901, 902, 903, 910]);
  expect(of(1021, 'env')).toEqual([1]);
  // The last turns that fit, the oldest left out down to half.
  const turns = [ids(600), ids(500, 1), ids(20, 2)];
  const long = { ...turnAfter([7]), prior: { head: [7], turns } };
  expect(contextOf(long, 'self')).toEqual([7, ...ids(20, 2)]);
});

test('nothing after the action line is trained, also where decoding leaves out a text’s first space', () => {
  const pieces = [
    ' Thought:',
    'Thought:',
    ' x\nAction:',
    ' look',
    '\nObservation:',
    ' a key',
    '</s>',
  ];
  const join = (list: readonly number[]) => list.map((id) => pieces[id] ?? '').join('');
  const sentencePiece = {
    ...learner,
    decode: (list: readonly number[]) => join(list).replace(/^ /, ''),
  };
  const bytePairs = { ...learner, decode: join };
  const trained = (of: Learner, first: number) => {
    const sampled = [first, 2, 3, 4, 5, 6];
    const text = join(sampled.slice(0, -1)); // as it is streamed: every space, no end token
    const turn = turnAfter([1], { ignoredFrom: text.indexOf('\nObservation') });
    const generation = { ...turn.step.generation, ids: sampled, text };
    const step = { ...turn.step, generation };
    return updateText({ ...turn, step }, defaultSettings, of, 4096).trained;
  };
  for (const of of [sentencePiece, bytePairs]) {
    for (const first of [0, 1]) expect(trained(of, first)).toBe(3);
  }
});

test('an observation’s ids are its own, without the commands that are shown after it', () => {
  const characters = (text: string) => [...text].map((c) => c.codePointAt(0) ?? 0);
  const content = 'You see a cup.\nAdmissible commands: look, take cup';
  const following = {
    ids: characters(`<\n${content}>`),
    content: [1, 2 + content.length],
  } as const;
  const span = (observation: string, all = content) =>
    observationSpan(observation, { role: 'user', content: all }, following, learner);
  // The span begins with the line end that a template put before the content.
  expect(span('You see a cup.')).toEqual([1, 16]);
  expect(span(content)).toEqual([1, 2 + content.length]);
  expect(span('')).toEqual([1, 1]);
});
