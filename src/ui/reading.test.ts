import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import { initialReading, reduceReading } from './reading.ts';
import { initialState, reduce, shownStep, type UiEvent, type UiState } from './state.ts';

const opened: UiEvent = {
  type: 'run_opened',
  label: { id: null, name: 'file' },
  events: madeRun({ steps: 12, seed: 3 }),
};
const play = (events: readonly UiEvent[], from: UiState = initialState) =>
  events.reduce(reduce, from);
const ticks = (count: number) => new Array<UiEvent>(count).fill({ type: 'play_tick' });

test('playback goes step by step and ends at the last one', () => {
  const begun = play([opened, { type: 'step_selected', t: 4 }, { type: 'play', on: true }]);
  expect(shownStep(play(ticks(3), begun))).toBe(7);
  expect(play(ticks(8), begun).reading.playing).toBe(true);
  const over = play(ticks(9), begun);
  expect(over.reading.playing).toBe(false);
  expect(shownStep(over)).toBe(12);
});

test('playback from the last step begins again at the first', () => {
  expect(shownStep(play([opened, { type: 'play', on: true }]))).toBe(1);
});

test('a tick of a halted playback moves nothing', () => {
  const halted = play([opened, { type: 'step_selected', t: 4 }]);
  expect(play(ticks(2), halted)).toBe(halted);
});

test('a chosen token belongs to its boundary: another one forgets it, the same one keeps it', () => {
  const chosen = play([
    opened,
    { type: 'step_selected', t: 6 },
    { type: 'token_chosen', j: 3 },
    { type: 'step_selected', t: 7 },
  ]);
  expect(chosen.reading.token).toBe(3); // steps 6 and 7 both show the boundary after step 5
  expect(reduce(chosen, { type: 'step_selected', t: 11 }).reading.token).toBe(null);
});

test('pinning a token twice takes it off again, and the others stay', () => {
  const pins = [
    { seq: 8, j: 1 },
    { seq: 8, j: 2 },
    { seq: 8, j: 1 },
  ].reduce((reading, pin) => reduceReading(reading, { type: 'token_pinned', pin }), initialReading);
  expect(pins.pinned).toEqual([{ seq: 8, j: 2 }]);
});

test('a range runs from left to right and is at least one step wide', () => {
  const after = (range: readonly [number, number]) =>
    reduceReading(initialReading, { type: 'range', range }).range;
  expect(after([20.4, 10.2])).toEqual([10, 21]);
  expect(after([7, 7])).toBe(null);
});

test('another run forgets the search, the pins and the range of the one before', () => {
  const used = play([
    opened,
    { type: 'find', text: 'cup' },
    { type: 'token_pinned', pin: { seq: 8, j: 1 } },
    { type: 'range', range: [2, 9] },
    { type: 'smoothing', smoothing: 0.5 },
    opened,
  ]);
  expect(used.reading).toEqual({ ...initialReading, smoothing: 0.5 });
});

test('a panel that has the whole room gives it back, at the latest to another run', () => {
  const large = play([opened, { type: 'enlarged', panel: 'charts' }]);
  expect(large.reading.enlarged).toBe('charts');
  expect(play([opened, { type: 'enlarged', panel: 'charts' }, opened]).reading.enlarged).toBeNull();
});
