import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { HistoryQuestion, WorldHistory } from '../records.ts';
import { foldRun, type RunView } from './run-view.ts';
import { type KnownWorlds, nextQuestion, stepsAtOnce, withAnswer } from './world-history.ts';

function made(steps: number, seed = 1): RunView {
  const run = foldRun(madeRun({ steps, seed }), { id: null, name: 'made' });
  if (!run) throw new Error('the made run starts');
  return run;
}

/** A world that counts its steps. */
function answerTo({ actions, from }: HistoryQuestion): WorldHistory {
  const first = from === undefined ? 0 : Number(from) + 1;
  const last = first + actions.length - (from === undefined ? 0 : 1);
  const sketches = Array.from({ length: last - first + 1 }, (_, i) => ({
    kind: 'places' as const,
    stateHash: `h${first + i}`,
    holding: null,
    places: [],
  }));
  return { sketches, state: last };
}

/** All that is known once nothing is left to ask, and how many steps each question had. */
function askAll(run: RunView, known: KnownWorlds | null) {
  const asked: number[] = [];
  let now = known;
  for (let next = nextQuestion(now, run); next; next = nextQuestion(now, run)) {
    asked.push(next.actions.length);
    now = withAnswer(now, run.started, next, answerTo(next));
  }
  return { asked, hashes: now?.sketches.map(({ stateHash }) => stateHash), known: now };
}

test('a long run is asked for in parts, each going on where the last one ended', () => {
  const run = made(2 * stepsAtOnce + 7);
  const { asked, hashes } = askAll(run, null);
  expect(asked).toEqual([stepsAtOnce, stepsAtOnce, 7]);
  expect(hashes).toEqual(Array.from({ length: run.steps.length + 1 }, (_, t) => `h${t}`));
});

test('of a live run only the steps that came since are asked for', () => {
  const run = made(12);
  const early = { ...run, steps: run.steps.slice(0, 9) };
  const { known } = askAll(early, null);
  expect(nextQuestion(known, early)).toBeNull();
  expect(askAll(run, known).asked).toEqual([3]);
});

test('a run before its first step has the world of its start', () => {
  expect(askAll({ ...made(3), steps: [] }, null).hashes).toEqual(['h0']);
});

test('nothing of another run is kept, though its actions be the same', () => {
  const [run, other] = [made(5), made(5)];
  const { known } = askAll(run, null);
  const next = nextQuestion(known, other);
  expect(next?.from).toBeUndefined();
  if (!next) throw new Error('the other run is not known');
  expect(withAnswer(known, other.started, next, answerTo(next)).sketches).toHaveLength(6);
});
