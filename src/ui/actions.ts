/** Everything the page can do: asks the engine and turns what comes back into events. */

import { changedFields, type Settings } from '../config.ts';
import { isAbort, LabError, toWire } from '../errors.ts';
import { formatRunFile, parseRunFile } from '../formats/run-file.ts';
import type { RunSummary, TaskRef } from '../records.ts';
import type { Control, Download, RunItem } from '../workers/api.ts';
import { startSettings } from './defaults.ts';
import { engine, startEngine } from './engine.ts';
import { bundledModel, loadModel, refreshModels } from './load.ts';
import { backendOf } from './query.ts';
import { attempt, inform, report } from './report.ts';
import { demoName, eventsOf, type RunView } from './run-view.ts';
import { isRunning, taskKey, type UiEvent } from './state.ts';
import { dispatch, useLab } from './store.ts';

/** How long items of a run are gathered before the page draws them. */
const gatherMs = 80;

// ---------------------------------------------------------------- engine

/** Starts the engine and asks it for all that the page shows before the first run. */
export async function startLab(): Promise<void> {
  const before = useLab.getState().model;
  dispatch({ type: 'engine_starting' });
  try {
    const client = startEngine((error) =>
      dispatch({ type: 'engine_failed', error: toWire(error) }),
    );
    const capabilities = await client.call('probe', { backend: backendOf(location.search) });
    const [environments, model] = await Promise.all([
      client.call('environments', null),
      client.call('loadedModel', null),
    ]);
    dispatch({ type: 'engine_ready', capabilities }, { type: 'environments', environments });
    if (model) dispatch({ type: 'model_loaded', model });
    await chooseFirstTask();
    await Promise.all([refreshRuns(), refreshModels()]);
    if (before && !model) await loadModel({ kind: 'bundled', name: bundledModel });
  } catch (thrown) {
    const error = toWire(thrown);
    if (useLab.getState().engine === 'starting') dispatch({ type: 'engine_failed', error });
    else report('The engine did not answer', error);
  }
}

async function refreshRuns(): Promise<void> {
  await attempt('The list of runs could not be read', async () => {
    dispatch({ type: 'runs', runs: await engine().call('runs', null) });
  });
}

// ---------------------------------------------------------------- tasks

/** The tasks of a split, asked for once. */
export async function loadTasks(env: string, split: string): Promise<readonly TaskRef[]> {
  const known = useLab.getState().tasks[taskKey(env, split)];
  if (known) return known;
  const tasks = await engine().call('tasks', { env, split });
  dispatch({ type: 'tasks', env, split, tasks });
  return tasks;
}

/** Chooses the task at this place of a split; the nearest one where there are fewer. */
export async function chooseTask(env: string, split: string, index: number): Promise<void> {
  await attempt('The tasks could not be read', async () => {
    const tasks = await loadTasks(env, split);
    const task = tasks[Math.min(Math.max(0, index), tasks.length - 1)];
    if (task) dispatch({ type: 'task_chosen', task });
  });
}

async function chooseFirstTask(): Promise<void> {
  const { environments, task } = useLab.getState();
  const env = environments[0];
  if (task || !env) return;
  const split = env.splits.find((one) => one.name === 'valid_unseen') ?? env.splits[0];
  if (split) await chooseTask(env.id, split.name, 0);
}

// ---------------------------------------------------------------- runs

/** Runs one episode of the chosen task; loads the bundled policy first where no model is loaded. */
export async function startRun(mode: 'run' | 'step'): Promise<void> {
  const state = useLab.getState();
  if (isRunning(state) || state.loading) return;
  if (Object.keys(state.drafts).length > 0) {
    report(
      'The run was not started',
      toWire(
        new LabError('bad_config', 'A setting has a value that cannot be used; it is marked.'),
      ),
    );
    return;
  }
  if (!state.model && !(await loadModel({ kind: 'bundled', name: bundledModel }))) return;
  const { task, settings } = useLab.getState();
  if (!task) {
    report(
      'The run was not started',
      toWire(new LabError('not_found', 'No task is chosen. Choose a split and a task first.')),
    );
    return;
  }
  await follow(() => engine().stream('run', { task, settings }), mode);
}

/** Runs anew from step `t` of a run: the steps up to there are taken over, the settings are the form's. */
export async function forkRun(run: RunView, t: number): Promise<void> {
  const state = useLab.getState();
  if (isRunning(state) || state.loading) return;
  if (!state.model && !(await loadModel({ kind: 'bundled', name: bundledModel }))) return;
  const { settings } = useLab.getState();
  const record = eventsOf(run);
  await follow(() => engine().stream('fork', { record, run: run.id, t, settings }), 'run');
}

/** Shows what a run's stream carries, until it ends. */
async function follow(
  start: () => AsyncGenerator<RunItem, RunSummary, void>,
  mode: 'run' | 'step',
): Promise<void> {
  dispatch({ type: 'run_requested' });
  try {
    const items = start();
    const gathered = gather();
    for (;;) {
      const next = await items.next();
      if (next.done) {
        gathered.flush();
        dispatch({ type: 'run_ended', run: next.value });
        break;
      }
      // The loop asks for orders after each step: a pause asked for now holds after the first one.
      if (mode === 'step' && next.value.kind === 'started') {
        void send(next.value.run.id, 'pause');
      }
      gathered.add(next.value);
    }
    const error = useLab.getState().live?.view?.ended?.error;
    if (error) report('The episode ended with an error', error);
  } catch (thrown) {
    dispatch({ type: 'run_ended', run: null });
    if (!isAbort(thrown) && useLab.getState().engine !== 'failed') {
      report('The run stopped with an error', toWire(thrown));
    }
  }
  if (useLab.getState().engine === 'ready') await refreshRuns();
}

/** Items come many times a second; the page takes them in groups. */
function gather(): { add(item: RunItem): void; flush(): void } {
  let waiting: UiEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const events = waiting;
    waiting = [];
    if (events.length > 0) dispatch(...events);
  };
  return {
    flush,
    add(item) {
      waiting.push(eventOf(item));
      if (item.kind === 'started') flush();
      else timer ??= setTimeout(flush, gatherMs);
    },
  };
}

function eventOf(item: RunItem): UiEvent {
  switch (item.kind) {
    case 'started':
      return { type: 'run_started', run: item.run };
    case 'event':
      return { type: 'run_event', event: item.event };
    case 'progress':
      return { type: 'run_progress', progress: item.progress, at: performance.now() };
    default:
      return item satisfies never;
  }
}

/** Asks something of the episode in flight. */
export async function control(command: Control): Promise<void> {
  const id = useLab.getState().live?.summary?.id;
  if (id === undefined || !isRunning(useLab.getState())) return;
  await send(id, command);
}

async function send(id: string, command: Control): Promise<void> {
  dispatch({ type: 'control_sent', command });
  await attempt('The engine did not take the command', () =>
    engine().call('control', { id, command }),
  );
}

/** Shows a stored run, read only. */
export async function openRun(id: string): Promise<void> {
  await attempt('The run could not be opened', async () => {
    const events = await engine().call('runEvents', { id });
    const name = useLab.getState().runs.find((run) => run.id === id)?.goal ?? id;
    if (events[0]?.type !== 'episode_started') {
      throw new LabError(
        'not_found',
        'Nothing of this run was stored: it ended before its first event. It can be deleted.',
      );
    }
    dispatch({ type: 'run_opened', label: { id, name }, events });
  });
}

export async function deleteRun(id: string): Promise<void> {
  await attempt('The run was not deleted', async () => {
    await engine().call('deleteRun', { id });
    if (useLab.getState().opened?.id === id) dispatch({ type: 'run_closed' });
    await refreshRuns();
  });
}

/** The recorded run that comes with the page. */
export async function openDemo(): Promise<void> {
  await attempt('The recorded run could not be opened', async () => {
    const response = await fetch('./demo-run.jsonl');
    if (!response.ok) {
      throw new LabError(
        'not_found',
        `This copy of the page has no recorded run (the server answered ${response.status}). Run the bundled policy instead.`,
      );
    }
    openRunText(await response.text(), demoName);
  });
}

function openRunText(text: string, name: string): void {
  dispatch({ type: 'run_opened', label: { id: null, name }, events: parseRunFile(text, name) });
}

// ---------------------------------------------------------------- files

/** Opens whatever was dropped or picked: a model, a run, a world or settings, told apart by name and content. */
export async function openFile(file: File): Promise<void> {
  const name = file.name.toLowerCase();
  if (name.endsWith('.gguf')) {
    await loadModel({ kind: 'file', file });
    return;
  }
  await attempt(`${file.name} was not opened`, async () => {
    if (file.size > 512e6) {
      throw new LabError(
        'limit',
        `${file.name} is larger than any run, world or settings file. A model's name must end in .gguf.`,
      );
    }
    // A browser that saves a second copy puts a number in.
    if (/\.attt(?: ?\(\d+\))?\.zip$/.test(name)) {
      await openBundle(file);
      return;
    }
    const text = await file.text();
    if (name.endsWith('.jsonl')) openRunText(text, file.name);
    else if (name.endsWith('.toml')) await readConfig(text, file.name);
    else if (name.endsWith('.tw-pddl')) await readTask(text, file.name);
    else if (name.endsWith('.json')) {
      if (looksLikeSettings(text)) await readSettings(text, file.name);
      else await readTask(text, file.name);
    } else {
      throw new LabError(
        'bad_input',
        `${file.name} is none of the files that open here: a model (.gguf), a run (.attt.zip, .jsonl), settings (config.toml, settings.json) or a world (scene.json, game.tw-pddl).`,
      );
    }
  });
}

/** Shows the run of a bundle, read only, once every file in it has been checked. */
async function openBundle(file: File): Promise<void> {
  const { openRun } = await import('../formats/bundle-read.ts');
  const { events } = await openRun(new Uint8Array(await file.arrayBuffer()), file.name);
  dispatch({ type: 'run_opened', label: { id: null, name: file.name }, events });
}

function looksLikeSettings(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'att' in value;
  } catch {
    return false;
  }
}

async function readTask(text: string, name: string): Promise<void> {
  const task = await engine().call('openTask', { name, text });
  dispatch({ type: 'task_chosen', task });
  inform(`${name} is open`, `Its task: ${task.goal ?? 'not named'}`);
}

async function readConfig(text: string, name: string): Promise<void> {
  const { parseConfigToml } = await import('../formats/settings.ts');
  const { patch, channel, notes } = parseConfigToml(text, name);
  const settings = { ...useLab.getState().settings, ...patch };
  dispatch({ type: 'settings_replaced', settings }, { type: 'channel', channel });
  inform(`${name} is read`, [settingsText(settings), ...notes].join(' '));
}

async function readSettings(text: string, name: string): Promise<void> {
  const { parseSettingsJson } = await import('../formats/settings.ts');
  const { patch, notes } = parseSettingsJson(text, name);
  const settings = { ...useLab.getState().settings, ...patch };
  dispatch({ type: 'settings_replaced', settings });
  inform(`${name} is read`, [settingsText(settings), ...notes].join(' '));
}

function settingsText(settings: Settings): string {
  const count = changedFields(settings, startSettings).length;
  if (count === 0) return 'All settings are at their defaults.';
  return `${count} ${count === 1 ? 'setting differs' : 'settings differ'} from the defaults; they are marked.`;
}

/** Saves one of the two settings files, of these settings. */
export async function saveSettings(
  file: 'config.toml' | 'settings.json',
  settings: Settings,
): Promise<void> {
  await attempt(`${file} was not saved`, async () => {
    const { toConfigToml, toSettingsJson } = await import('../formats/settings.ts');
    const text =
      file === 'config.toml'
        ? toConfigToml(settings, useLab.getState().channel)
        : toSettingsJson(settings);
    saveText(file, text, file === 'config.toml' ? 'application/toml' : 'application/json');
  });
}

/** Saves the adapter of a stored run as a PEFT zip. */
export async function saveAdapter(id: string): Promise<void> {
  await attempt('The adapter was not saved', async () => {
    saveDownload(await engine().call('exportAdapter', { id }));
  });
}

/** Saves everything of a run as a bundle; one from a file has no adapter to put in. */
export async function saveBundle(run: RunView): Promise<void> {
  await attempt('The bundle was not saved', async () => {
    if (run.id !== null) {
      saveDownload(await engine().call('exportBundle', { id: run.id }));
      return;
    }
    const { writeBundle } = await import('../formats/bundle-write.ts');
    const name = run.name.replace(/\.(attt\.zip|jsonl)$/, '').replace(/[^\w.-]+/g, '-');
    const contents = { run: name, createdAt: null, events: eventsOf(run), adapters: null };
    const bytes = await writeBundle(contents);
    saveDownload({ name: `${name}.attt.zip`, type: 'application/zip', bytes });
  });
}

/** Saves a run as JSONL: from the store, or from the page where it came from a file. */
export async function saveRun(run: RunView): Promise<void> {
  await attempt('The run was not saved', async () => {
    if (run.id !== null) saveDownload(await engine().call('exportRun', { id: run.id }));
    else saveText(fileName(run.name), formatRunFile(eventsOf(run)), 'application/jsonl');
  });
}

function fileName(name: string): string {
  return name.endsWith('.jsonl') ? name : `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.jsonl`;
}

/** Hands a text to the person as a file. */
export function saveText(name: string, text: string, type: string): void {
  saveDownload({ name, type, bytes: new TextEncoder().encode(text) });
}

function saveDownload({ name, type, bytes }: Download): void {
  const url = URL.createObjectURL(new Blob([Uint8Array.from(bytes)], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
