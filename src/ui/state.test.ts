/** The page's state as a fold: live runs, opened runs, notices, settings. Numbers are made by hand. */

import { expect, test } from 'vitest';
import { madeRun } from '../../e2e/fixtures/recorded/household-run.ts';
import type { EpisodeEvent, RunSummary } from '../records.ts';
import { isStale } from './comparing.ts';
import { startSettings } from './defaults.ts';
import { spaceMeans } from './keys.ts';
import { fits, remedies } from './memory-fit.ts';
import { boundaryAt, boundaryBeside, eventsOf, foldRun } from './run-view.ts';
import { initialState, isRunning, reduce, shownRun, shownStep, type UiEvent } from './state.ts';

const recorded = madeRun({ steps: 12, seed: 3 });
const manifest = recorded[0]?.type === 'episode_started' ? recorded[0].manifest : null;

function summary(id: string): RunSummary {
  if (!manifest) throw new Error('the made run starts with its manifest');
  return {
    id,
    createdAt: '2026-01-01T00:00:00.000Z',
    manifest,
    goal: 'put a hot potato in sinkbasin.',
    steps: 0,
    updates: 0,
    rollbacks: 0,
    reason: null,
    reward: 0,
  };
}

const play = (events: readonly UiEvent[], from = initialState) => events.reduce(reduce, from);
const live = (events: readonly EpisodeEvent[]): UiEvent[] => [
  { type: 'run_requested', asked: true },
  { type: 'run_started', run: summary('a') },
  ...events.map((event): UiEvent => ({ type: 'run_event', event })),
];

test('a live run and the same run opened from its file show the same', () => {
  const played = shownRun(play(live(recorded)));
  const opened = shownRun(
    play([{ type: 'run_opened', label: { id: null, name: 'file' }, events: recorded }]),
  );
  expect(played?.items).toEqual(opened?.items);
  expect(played?.ended).toEqual(opened?.ended);
  expect(played?.steps).toHaveLength(12);
  expect(played?.boundaries).toHaveLength(2);
});

test('the events of a view are the events it was folded from', () => {
  const view = foldRun(recorded, { id: null, name: 'file' });
  expect(view && eventsOf(view)).toEqual(recorded);
});

test('a run that was stopped while it was starting is still to stop when it has begun', () => {
  const stopped = play([
    { type: 'run_requested', asked: true },
    { type: 'control_sent', command: 'stop' },
    { type: 'run_started', run: summary('a') },
  ]);
  expect(stopped.live).toMatchObject({ status: 'stopping', summary: { id: 'a' } });
  expect(play(live([])).live?.status).toBe('running');
});

test('an event that comes twice counts once', () => {
  const twice = recorded.flatMap((event) => [event, event]);
  expect(shownRun(play(live(twice)))?.items).toEqual(shownRun(play(live(recorded)))?.items);
});

test('tokens gather into the step in progress and give way to the step itself', () => {
  const token = (piece: string, at: number): UiEvent => ({
    type: 'run_progress',
    progress: { type: 'token', t: 1, id: 5, piece },
    at,
  });
  const writing = play([
    ...live(recorded.slice(0, 1)),
    token('I', 0),
    token(' need', 100),
    token(' to', 200),
    token(' go', 300),
  ]);
  expect(writing.live?.writing?.text).toBe('I need to go');
  expect(writing.live?.writing?.tokensPerSecond).toBeCloseTo(10);
  const [, step] = recorded;
  if (step) {
    expect(reduce(writing, { type: 'run_event', event: step }).live?.writing).toBeNull();
  }
});

test('pausing waits for the step in progress; resuming runs again', () => {
  const running = play(live(recorded.slice(0, 3)));
  const pausing = reduce(running, { type: 'control_sent', command: 'pause' });
  expect(pausing.live?.status).toBe('pausing');
  const token: UiEvent = {
    type: 'run_progress',
    progress: { type: 'token', t: 3, id: 1, piece: 'x' },
    at: 0,
  };
  expect(reduce(pausing, token).live?.status).toBe('pausing');
  const paused = reduce(pausing, {
    type: 'run_progress',
    progress: { type: 'paused', t: 2 },
    at: 0,
  });
  expect(paused.live?.status).toBe('paused');
  expect(reduce(paused, { type: 'control_sent', command: 'resume' }).live?.status).toBe('running');
});

test('a run that is being stopped cannot be resumed', () => {
  const stopping = play([...live(recorded.slice(0, 3)), { type: 'control_sent', command: 'stop' }]);
  expect(reduce(stopping, { type: 'control_sent', command: 'resume' })).toEqual(stopping);
});

test('an opened run hides the live one, and closing it brings the live one back', () => {
  const state = play([
    ...live(recorded.slice(0, 4)),
    { type: 'run_opened', label: { id: 'old', name: 'old' }, events: recorded },
  ]);
  expect(shownRun(state)?.id).toBe('old');
  expect(isRunning(state)).toBe(true);
  expect(shownRun(reduce(state, { type: 'run_closed' }))?.id).toBe('a');
});

test('a selected step stays within the run and stops the following', () => {
  const state = play(live(recorded));
  const far = reduce(state, { type: 'step_selected', t: 99 });
  expect([far.selected, far.following]).toEqual([12, false]);
  expect(shownStep(reduce(far, { type: 'step_selected', t: -4 }))).toBe(1);
  expect(reduce(far, { type: 'step_selected', t: null }).following).toBe(true);
});

test('a failed engine ends the run, keeps its steps and offers a restart', () => {
  const state = play([
    ...live(recorded.slice(0, 4)),
    { type: 'engine_failed', error: { code: 'internal', message: 'gone', details: {} } },
  ]);
  expect(isRunning(state)).toBe(false);
  expect(shownRun(state)?.steps).toHaveLength(3);
  expect(state.notices.map((notice) => notice.action)).toEqual(['restart_engine']);
});

test('a load that fails leaves the earlier model', () => {
  const model = { name: 'earlier' } as never; // only its identity is looked at
  const state = play([
    { type: 'model_loaded', model: { ...(model as object), name: 'earlier' } as never },
    { type: 'model_loading', from: 'file', url: null, label: 'broken.gguf' },
    { type: 'model_not_loaded' },
  ]);
  expect(state.model?.name).toBe('earlier');
  expect(state.loading).toBeNull();
});

test('a value that cannot be used stays a draft and changes no setting', () => {
  const refused = reduce(initialState, {
    type: 'setting_refused',
    name: 'w_min',
    text: '7',
    problem: 'wants a value from 0 to 1',
  });
  expect(refused.settings).toEqual(startSettings);
  expect(refused.drafts.w_min?.text).toBe('7');
  const mended = reduce(refused, { type: 'setting_changed', patch: { w_min: 0.1 } });
  expect(mended.drafts).toEqual({});
  expect(mended.settings.w_min).toBe(0.1);
});

test('the same notice twice stands once', () => {
  const notice: UiEvent = {
    type: 'notice',
    notice: { tone: 'error', title: 'T', message: 'M', next: '', action: null },
  };
  const state = play([notice, notice]);
  expect(state.notices).toHaveLength(1);
  const [first] = state.notices;
  expect(first && reduce(state, { type: 'notice_dismissed', id: first.id }).notices).toHaveLength(
    0,
  );
});

const part = (name: 'weights' | 'kv', bytes: number) => ({ part: name, bytes });
const preview = {
  name: 'large',
  parameters: 1e9,
  fileBytes: 7e8,
  contextLength: 4096,
  trainedContext: 8192,
  memory: [part('weights', 3e9), part('kv', 5e9)],
  limit: { bytes: 4e9, what: 'the heap' },
};

test('a model that may not fit waits for a word, and what the cache gives was not downloaded', () => {
  const asking = play([
    { type: 'model_loading', from: 'download', url: 'https://a.b/c.gguf', label: 'c.gguf' },
    { type: 'model_previewed', preview, asking: true },
  ]);
  expect(asking.loading?.asking).toBe(true);
  expect(asking.status).toBe('large may not fit into memory.');
  const loaded = play(
    [
      { type: 'model_agreed' },
      {
        type: 'model_progress',
        progress: { phase: 'cache', bytes: 1, total: 1, bytesPerSecond: 0 },
      },
      {
        type: 'model_progress',
        progress: { phase: 'upload', bytes: 1, total: 1, bytesPerSecond: 0 },
      },
      { type: 'model_loaded', model: { name: 'large' } as never }, // only its name is looked at
    ],
    asking,
  );
  expect(loaded.modelFrom).toBe('cache');
  expect(loaded.loading).toBeNull();
});

test('the remedy names the largest part, and a limit that is not known refuses nothing', () => {
  expect(fits(preview)).toBe(false);
  expect(fits({ ...preview, limit: null })).toBe(true);
  expect(fits({ ...preview, limit: { bytes: 8e9, what: '' } })).toBe(true);
  expect(remedies(preview)).toMatch(
    /^The KV cache is the largest part: a shorter context than 4,096/,
  );
  expect(remedies({ ...preview, memory: [part('weights', 3e9), part('kv', 1)] })).toMatch(
    /choose a smaller model/,
  );
});

test('a run that is taken up again shows the repeated record as work', () => {
  const state = play([
    ...live(recorded.slice(0, 4)),
    {
      type: 'run_progress',
      progress: { type: 'phase', t: 2, phase: 'replay', done: 3, total: 4 },
      at: 0,
    },
  ]);
  expect(state.live?.phase).toMatchObject({ phase: 'replay', done: 3, total: 4 });
  expect(isRunning(state)).toBe(true);
});

test('another world brings its own defaults, and leaves what a person changed', () => {
  const at = (env: string): UiEvent => ({
    type: 'task_chosen',
    task: { env, split: 'train', index: 0 },
  });
  const household = play([at('household/ALFWorld-v0.4')]);
  expect(household.settings.max_tokens).toBe(64);
  const changed: UiEvent = {
    type: 'settings_replaced',
    settings: { ...household.settings, step_limit: 7 },
  };
  const repair = play([changed, at('repair/JavaScript-v1')], household);
  expect(repair.settings).toMatchObject({ max_tokens: 512, step_limit: 7 });
  expect(repair.settings.system_prompt).toMatch(/Action:/);
  expect(play([at('household/ALFWorld-v0.3')], repair).settings).toEqual({
    ...household.settings,
    step_limit: 7,
  });
});

test('only a run that the person asked for takes the screen', () => {
  const reading: readonly UiEvent[] = [
    { type: 'run_opened', label: { id: 'old', name: 'old' }, events: recorded },
    { type: 'step_selected', t: 5 },
    { type: 'find', text: 'potato' },
    { type: 'range', range: [2, 6] },
  ];
  const read = play([...live(recorded), ...reading]);
  const beside = reduce(read, { type: 'run_requested', asked: false });
  expect({ ...beside, live: null, status: '' }).toEqual({ ...read, live: null, status: '' });
  const asked = reduce(read, { type: 'run_requested', asked: true });
  expect(asked).toMatchObject({ opened: null, selected: null, reading: { find: '', range: null } });
});

const ended = (id: string, steps: number): RunSummary => ({
  ...summary(id),
  ...{ steps, reason: 'failed' },
});

test('a run that ended is compared as it ended, not as it was when it was chosen', () => {
  const early = foldRun(recorded.slice(0, 5), { id: 'a', name: 'a' });
  if (!early) throw new Error('it starts');
  const picked: UiEvent[] = [
    { type: 'compare_picked', ids: ['a'] },
    { type: 'compare_view', id: 'a', view: early },
  ];
  const state = play([...live(recorded), ...picked, { type: 'run_ended', run: ended('a', 12) }]);
  expect(early.steps).toHaveLength(4);
  expect(state.comparing.views.a?.steps).toHaveLength(12);
  expect(isStale(early, ended('a', 4))).toBe(true); // it was read before it ended
  expect(isStale(state.comparing.views.a, ended('a', 12))).toBe(false);
  expect(isStale(state.comparing.views.a, ended('a', 15))).toBe(true); // taken up again elsewhere
  expect(isStale(state.comparing.views.a, undefined)).toBe(false); // a file's
});

test('a run that was deleted is nowhere: not on screen, not chosen, not compared', () => {
  const view = foldRun(recorded, { id: 'a', name: 'a' });
  if (!view) throw new Error('it starts');
  const over = play([
    ...live(recorded),
    { type: 'run_ended', run: ended('a', 12) },
    { type: 'runs', runs: [ended('a', 12), ended('b', 3)] },
    { type: 'compare_picked', ids: ['a', 'b', 'file:c'] },
    { type: 'compare_view', id: 'a', view },
    { type: 'compare_open', on: true },
  ]);
  const deleted: UiEvent = { type: 'runs', runs: [ended('b', 3)] };
  const after = reduce(over, deleted);
  expect(after).toMatchObject({ live: null, comparing: { open: true, picked: ['b', 'file:c'] } });
  expect(after.comparing.views).toEqual({});
  const opened: UiEvent = { type: 'run_opened', label: { id: 'b', name: 'b' }, events: recorded };
  const other = play([opened, { type: 'step_selected', t: 4 }, deleted], over);
  expect([shownRun(other)?.id, other.selected, other.live]).toEqual(['b', 4, null]);
  const itself = play([{ ...opened, label: { id: 'a', name: 'a' } }, deleted], over);
  expect([shownRun(itself), itself.opened]).toEqual([null, null]);
  // While it runs it cannot be deleted, and before the list was read nothing is known to be gone.
  const early = play([...live(recorded), { type: 'compare_picked', ids: ['z'] }, deleted]);
  expect([shownRun(early)?.id, early.comparing.picked]).toEqual(['a', ['z']]);
});

test('Space pauses a run and plays a recorded one, and waits for one that is on its way to either', () => {
  const running = play(live(recorded.slice(0, 4)));
  const after = (...events: readonly UiEvent[]) => spaceMeans(play(events, running));
  expect(after()).toBe('pause');
  expect(after({ type: 'control_sent', command: 'pause' })).toBe('wait');
  expect(after({ type: 'control_sent', command: 'stop' })).toBe('wait');
  const paused = { type: 'run_progress', progress: { type: 'paused', t: 3 }, at: 0 } as const;
  expect(after(paused)).toBe('resume');
  expect(after({ type: 'run_ended', run: ended('a', 3) })).toBe('play');
  expect(after({ type: 'run_opened', label: { id: 'b', name: 'b' }, events: recorded })).toBe(
    'play',
  );
  expect(spaceMeans(initialState)).toBeNull();
});

test('two boundaries of one step are told apart, and gone through one by one', () => {
  const scheduled = recorded.findLast((event) => event.type === 'boundary');
  const end = recorded.at(-1);
  if (scheduled?.type !== 'boundary' || !end) throw new Error('the made run has updates');
  const { t } = scheduled;
  const seq = end.seq;
  const twice = [
    ...recorded.slice(0, -1),
    { ...scheduled, trigger: 'manual', seq } as const,
    { ...end, seq: seq + 1 },
  ];
  const opened = play([{ type: 'run_opened', label: { id: null, name: 'f' }, events: twice }]);
  const run = shownRun(opened);
  if (!run) throw new Error('it is open');
  const at = (state: typeof opened) => boundaryAt(run, state.selected, state.reading.boundary)?.seq;
  const first = reduce(opened, { type: 'step_selected', t, seq: scheduled.seq });
  expect([at(first), at(reduce(first, { type: 'step_selected', t }))]).toEqual([
    scheduled.seq,
    seq,
  ]);
  expect(at(reduce(first, { type: 'follow', on: true }))).toBe(seq);
  expect(boundaryBeside(run, 1, t, scheduled.seq)?.seq).toBe(seq);
  expect(boundaryBeside(run, -1, t, null)?.seq).toBe(scheduled.seq);
  expect(boundaryBeside(run, -1, t, scheduled.seq)?.t).toBeLessThan(t);
  expect(boundaryBeside(run, 1, t, null)).toBeNull();
});

test('the run that follows in the live one leaves a comparison open, and the steps to who went back in them', () => {
  const next: UiEvent = { type: 'run_requested', asked: false };
  const compared = play([...live(recorded), { type: 'compare_open', on: true }, next]);
  expect(compared.comparing.open).toBe(true);
  const back = play([...live(recorded), { type: 'step_selected', t: 3 }, next]);
  expect([shownRun(back)?.id, shownStep(back), back.live?.status]).toEqual(['a', 3, 'starting']);
  expect(shownRun(play([...live(recorded), next]))).toBeNull();
});
