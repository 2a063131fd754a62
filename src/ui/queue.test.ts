/** What a file's queue leaves out for what was run here already. Runs are made by hand. */

import { beforeEach, expect, test, vi } from 'vitest';
import { madeRun, startOf } from '../../e2e/fixtures/recorded/household-run.ts';
import type { SettingsPatch } from '../config.ts';
import { planExperiment } from '../experiment/plan.ts';
import type { EpisodeEvent, ModelInfo, RunSummary } from '../records.ts';
import { startSummary } from '../store/summary.ts';
import { version } from '../version.ts';
import { openExperiment, startQueue } from './queue.ts';
import { initialState } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { settled, testingEngine } from './testing-engine.ts';

const lists = { runs: [], models: [], snapshotSizes: {}, control: null };
let engine = testingEngine(lists);
vi.mock('./engine.ts', () => ({ engine: () => engine.client, engineDown: { engine: 'down' } }));

const events = madeRun({ steps: 4, seed: 3 });
const { manifest, task } = startOf(events);
const model = {
  ...{ name: 'writer', sha256: manifest.modelSha256, contextLength: 512, parameters: 135e6 },
} as ModelInfo; // what is read of it
const reflexion: SettingsPatch = { reflexion_tries: 3 };
const plan = planExperiment(
  {
    ...{ name: 'tries', question: '', env: task.env, split: task.split, tasks: [0], seeds: [1] },
    ...{ methods: ['reflexion'], settings: reflexion, sweeps: [] },
  },
  [{ ...task, index: 0 }],
  null,
);
const [planned] = plan.episodes;
if (!planned) throw new Error('one episode is planned');

/** A try that failed, begun with these reflections. */
function tried(id: string, reflections: readonly string[]): RunSummary {
  const own = {
    ...{ ...manifest, appVersion: version },
    task: planned?.task ?? task,
    settings: planned?.settings ?? manifest.settings,
  };
  const begun = reflections.length > 0 ? { ...own, reflections } : own;
  return { ...startSummary(id, '2026-01-01T00:00:00.000Z', begun), reason: 'failed' };
}

/** The events of such a try; null for the last one, which writes nothing. */
const eventsOf = (wrote: string | null) =>
  events.map((event) =>
    event.type === 'episode_ended' && wrote !== null
      ? { ...event, reflection: { text: wrote, ids: [1], promptTokens: 1 } }
      : event,
  );

beforeEach(() => {
  engine = testingEngine(lists);
  const backend = { backend: manifest.backend } as never; // the one thing that is read of it
  useLab.setState({ ...initialState, engine: 'ready', model, capabilities: backend }, true);
  dispatch({ type: 'writer', writer: 'this_tab' });
});

/** A run that is here, what it wrote at its end, and what happened before that besides. */
type Kept = readonly [RunSummary, wrote: string | null, ...besides: EpisodeEvent[]];

/** Starts the queue with these runs here, and answers what it asks of them; `done` when it has ended. */
async function queued(...kept: readonly Kept[]) {
  dispatch({ type: 'runs', runs: kept.map(([run]) => run) });
  const done = startQueue(plan, true);
  (await engine.newest('tasks')).answer([planned?.task]);
  (await engine.newest('settle')).answer([planned?.settings]);
  await settled();
  // An answer may lead to another question.
  for (const { name, input, answer } of engine.asked) {
    if (name !== 'runEvents') continue;
    const found = kept.find(([{ id }]) => id === (input as { readonly id: string }).id);
    const [, wrote = null, ...besides] = found ?? [];
    answer([...besides, ...eventsOf(wrote)]);
    await settled();
  }
  return { done };
}

test('a tab that was closed between two tries goes on with the next one, and not with the first', async () => {
  const { done } = await queued([tried('a', []), 'Look in the fridge.']);
  const stream = await engine.newest('run');
  expect(stream.input).toMatchObject({ reflections: ['Look in the fridge.'] });
  stream.answer({ ...tried('b', ['Look in the fridge.']), reason: 'stopped' });
  await done;
});

test('an episode without a run begins with its first try', async () => {
  const { done } = await queued();
  const stream = await engine.newest('run');
  expect(stream.input).not.toHaveProperty('reflections');
  stream.answer({ ...tried('a', []), reason: 'stopped' });
  await done;
});

test('an episode whose last try is here is left out', async () => {
  const { done } = await queued(
    [tried('c', ['one', 'two']), null],
    [tried('b', ['one']), 'two'],
    [tried('a', []), 'one'],
  );
  await done;
  expect(engine.asked.filter(({ name }) => name === 'run')).toEqual([]);
});

/** What the page says with these runs here, and what the first try that it then asks for begins with. */
async function goesOn(...kept: readonly Kept[]) {
  const { done } = await queued(...kept);
  const stream = await engine.newest('run');
  stream.answer({ ...tried('z', []), reason: 'stopped' });
  await done;
  const { reflections = [] } = stream.input as { readonly reflections?: readonly string[] };
  return { reflections, said: useLab.getState().notices.map(({ message }) => message) };
}

const noneCounts =
  '0 of 1 episodes have a run here already; the others are run. Of 1 of these there are runs here that do not count: another release of this page made them, or a person steered them by an update or a rollback.';

test('a run that a person steered is no result of its settings: its episode is run again', async () => {
  const steered = { ...tried('a', []), steered: true };
  expect(await goesOn([steered, 'Look.'])).toEqual({ reflections: [], said: [noneCounts] });
  const second = { ...tried('c', ['Look.']), steered: true };
  expect((await goesOn([second, 'Wash.'], [tried('b', []), 'Look.'])).reflections).toEqual([
    'Look.',
  ]);
});

test('of a run of an earlier version its events say whether a person steered it', async () => {
  const { steered: _, ...older } = tried('a', []);
  expect(await goesOn([older, 'Look.'])).toEqual({ reflections: ['Look.'], said: [] });
  const rolledBack = {
    type: 'rolled_back',
    seq: 1,
    t: 1,
    cause: 'manual',
    restored: true,
  } as const;
  const again = await goesOn([older, 'Look.', rolledBack]);
  expect(again).toEqual({ reflections: [], said: [noneCounts] });
});

test('a run of another release does not count, and one of another build does', async () => {
  const madeBy = (appVersion: string): RunSummary => {
    const run = tried('a', []);
    return { ...run, manifest: { ...run.manifest, appVersion } };
  };
  const [release = ''] = version.split('+');
  expect((await goesOn([madeBy(`${release}+gother`), 'Look.'])).reflections).toEqual(['Look.']);
  const again = await goesOn([madeBy('0.0.9'), 'Look.']);
  expect(again).toEqual({ reflections: [], said: [noneCounts] });
});

const file = `
name = "page"
env = "household"
split = "valid_seen"
tasks = "0-1"
seeds = "7,9007199254740991"
methods = ["frozen", "attt"]
[[sweep]]
method = "attt"
triggers = [["error", "periodic"], ["periodic", "error"]]
`;

/** The page with a household of one split. */
function withHousehold(): void {
  const split = { name: 'valid_seen', tasks: 2 } as never; // its name is all that is read
  useLab.setState({ environments: [{ id: task.env, splits: [split] } as never] });
}

test('a file is the same episodes here as on the command line, with the model that is here', async () => {
  dispatch({ type: 'setting_changed', patch: { policy_model: 'mine.gguf', lora_rank: 4 } });
  withHousehold();
  const opening = openExperiment(file, 'page.toml');
  const tasks = [0, 1].map((index) => ({ ...task, split: 'valid_seen', index }));
  (await engine.newest('tasks')).answer(tasks);
  const { arms, episodes } = await opening;
  expect(episodes.map(({ key }) => key)).toEqual(
    [7, 9007199254740991].flatMap((seed) =>
      [0, 1].flatMap((place) =>
        ['frozen', 'attt', 'attt triggers=error,periodic'].map(
          (arm) => `${arm}/valid_seen/${place}/${seed}`,
        ),
      ),
    ),
  );
  // What the form has besides is not the file's.
  expect(arms.map(({ settings }) => [settings.policy_model, settings.lora_rank])).toEqual(
    arms.map(() => ['mine.gguf', 8]),
  );
});

test('a file that names a model, an adapter or tasks that are not here is refused', async () => {
  withHousehold();
  const open = (text: string) => openExperiment(text, 'page.toml');
  const settings = (line: string) => file.replace('[[sweep]]', `[settings]\n${line}\n[[sweep]]`);
  await expect(open(settings('policy_model = "other.gguf"'))).rejects.toThrow('policy_model');
  await expect(open(settings('adapter = "first"'))).rejects.toThrow('first');
  await expect(open(file.replace('valid_seen', 'train'))).rejects.toThrow('train');
});
