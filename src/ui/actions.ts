/** Everything the page can do: asks the engine and turns what comes back into events. */

import { changedFields, type Settings } from '../config.ts';
import { isAbort, LabError, toWire } from '../errors.ts';
import { notebookEnding } from '../formats/endings.ts';
import { predictionLine, predictionOf } from '../formats/predictions.ts';
import { formatRunFile, parseRunFile } from '../formats/run-file.ts';
import { reach } from '../formats/source.ts';
import type { TaskRef } from '../records.ts';
import type { Download } from '../workers/api.ts';
import { readShelf } from './adapter-shelf-state.ts';
import { readPicked } from './compare-actions.ts';
import { usualSettings } from './defaults.ts';
import { engine, startEngine } from './engine.ts';
import { latest, screenRequests, taskRequests } from './latest.ts';
import { readLink } from './link.ts';
import { hadModel, loadAgain, loadModel, refreshModels } from './load.ts';
import { readNotes } from './notes.ts';
import { plural } from './numbers.ts';
import { backendOf, kernelsOf, threadsOf } from './query.ts';
import { attempt, inform, report } from './report.ts';
import { demoName, eventsOf, type RunView } from './run-view.ts';
import { saveBlob } from './save-blob.ts';
import { isRunning, taskKey } from './state.ts';
import { refreshStorage } from './storage.ts';
import { dispatch, storedKernelWish, useLab } from './store.ts';
import { actions as say } from './strings.ts';
import { placeOf, type TaskPlace } from './task-place.ts';
import { mayWrite, tellOtherTabs } from './writer.ts';

// ---------------------------------------------------------------- engine

/** Starts the engine and asks it for all that the page shows before the first run. */
export async function startLab(): Promise<void> {
  dispatch({ type: 'engine_starting' });
  try {
    const client = startEngine((error) =>
      dispatch({ type: 'engine_failed', error: toWire(error) }),
    );
    const capabilities = await client.call('probe', {
      backend: backendOf(location.search),
      kernels: kernelsOf(location.search) ?? storedKernelWish(),
      threads: threadsOf(location.search),
    });
    const [environments, model] = await Promise.all([
      client.call('environments', null),
      client.call('loadedModel', null),
    ]);
    dispatch({ type: 'engine_ready', capabilities }, { type: 'environments', environments });
    if (model) dispatch({ type: 'model_loaded', model });
    if (!useLab.getState().task) await chooseLinkedTask(taskRequests.watch());
    await Promise.all([refreshRuns(), refreshModels(), refreshStorage(), readNotes()]);
    offerResume();
    if (hadModel() && !model) await loadAgain();
  } catch (thrown) {
    if (isAbort(thrown)) return; // another start has ended this one's engine
    const error = toWire(thrown);
    if (useLab.getState().engine === 'starting') dispatch({ type: 'engine_failed', error });
    else report(say.noAnswer, error);
  }
}

/** The newest run, where it did not end: the tab was closed or the engine died. */
function offerResume(): void {
  const newest = useLab.getState().runs[0];
  if (newest?.reason === null && newest.steps > 0) {
    dispatch({ type: 'resume_offered', id: newest.id });
  }
}

const lists = latest();

export async function refreshRuns(): Promise<void> {
  const isNewest = lists.begin();
  await attempt(say.listFailed, async () => {
    const runs = await engine().call('runs', null);
    if (!isNewest()) return; // an older list lacks the newest run, as if it had been deleted
    dispatch({ type: 'runs', runs });
    await readPicked();
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
export function chooseTask(env: string, split: string, index: number): Promise<void> {
  return chooseAt({ env, split, index }, taskRequests.begin());
}

async function chooseAt({ env, split, index }: TaskPlace, stands: () => boolean): Promise<void> {
  await attempt(say.tasksFailed, async () => {
    const tasks = await loadTasks(env, split);
    const task = tasks[Math.min(Math.max(0, index), tasks.length - 1)];
    if (task && stands()) dispatch({ type: 'task_chosen', task });
  });
}

/** Chooses the task that the address names, the first one where it names none, if the choice `stands` once it is known. */
export async function chooseLinkedTask(stands = taskRequests.begin()): Promise<void> {
  const place = placeOf(readLink(location.hash).task, useLab.getState().environments);
  if (place) await chooseAt(place, stands);
}

// ---------------------------------------------------------------- runs

/** Shows a stored run, read only. */
export async function openRun(id: string): Promise<void> {
  const isNewest = screenRequests.begin();
  await attempt(say.openFailed, async () => {
    const events = await engine().call('runEvents', { id });
    if (!isNewest()) return;
    const name = useLab.getState().runs.find((run) => run.id === id)?.goal ?? id;
    if (events[0]?.type !== 'episode_started') {
      throw new LabError('not_found', say.storedNothing);
    }
    dispatch({ type: 'run_opened', label: { id, name }, events });
  });
}

export async function deleteRun(id: string): Promise<void> {
  if (!mayWrite()) return;
  await attempt(say.deleteFailed, async () => {
    await engine().call('deleteRun', { id });
    await refreshRuns();
    tellOtherTabs('runs_changed');
  });
}

/** Deletes every stored run but the one in progress. */
export async function deleteAllRuns(): Promise<void> {
  if (!mayWrite()) return;
  await attempt(say.deleteAllFailed, async () => {
    const { runs, live } = useLab.getState();
    const inProgress = isRunning(useLab.getState()) ? live?.summary?.id : null;
    for (const { id } of runs) {
      if (id !== inProgress) await engine().call('deleteRun', { id });
    }
  });
  await refreshRuns();
  tellOtherTabs('runs_changed');
}

/** Every run of this browser as one file. */
export async function saveNotebook(): Promise<void> {
  await attempt(say.notebookNotSaved, async () => {
    saveDownload(await engine().call('exportNotebook', null));
  });
}

async function readNotebookFile(file: File): Promise<void> {
  if (!mayWrite()) return;
  const { added, known, adapters } = await engine().call('importNotebook', {
    name: file.name,
    file,
  });
  await Promise.all([refreshRuns(), readShelf(), readNotes()]);
  for (const message of ['runs_changed', 'shelf_changed', 'notes_changed'] as const) {
    tellOtherTabs(message);
  }
  const fresh = [plural(added, 'run'), ...(adapters > 0 ? [plural(adapters, 'adapter')] : [])].join(
    ' and ',
  );
  inform(
    say.read(file.name),
    known > 0 ? say.addedAlready(fresh, plural(known, 'run')) : say.added(fresh),
  );
}

/** Opens the run at an address, read only. */
export async function openRunAt(url: string): Promise<void> {
  const isNewest = screenRequests.begin();
  await attempt(say.addressFailed, async () => {
    const response = await reach(url);
    if (!response.ok) {
      throw new LabError('network', say.noRunAtAddress(url, response.status), {
        url,
        status: response.status,
      });
    }
    const text = await response.text();
    if (isNewest()) openRunText(text, url.split(/[?#]/)[0]?.split('/').at(-1) || url);
  });
}

/** The recorded run that comes with the page. */
export async function openDemo(): Promise<void> {
  const isNewest = screenRequests.begin();
  await attempt(say.demoFailed, async () => {
    const response = await fetch('./demo-run.jsonl');
    if (!response.ok) {
      throw new LabError('not_found', say.noDemoHere(response.status));
    }
    const text = await response.text();
    if (isNewest()) openRunText(text, demoName);
  });
}

function openRunText(text: string, name: string): void {
  dispatch({ type: 'run_opened', label: { id: null, name }, events: parseRunFile(text, name) });
}

// ---------------------------------------------------------------- files

/** Opens what was dropped or picked together; several model files are the parts of one model. */
export async function openFiles(files: readonly File[]): Promise<void> {
  const isModel = ({ name }: File) => name.toLowerCase().endsWith('.gguf');
  const [file, ...parts] = files.filter(isModel).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (file) await loadModel({ kind: 'file', file, ...(parts.length > 0 && { parts }) });
  for (const other of files.filter((each) => !isModel(each))) await openFile(other);
}

/** Opens whatever was dropped or picked: a model, a run, a world or settings, told apart by name and content. */
export async function openFile(file: File): Promise<void> {
  const name = file.name.toLowerCase();
  if (name.endsWith('.gguf')) {
    await loadModel({ kind: 'file', file });
    return;
  }
  await attempt(say.notOpened(file.name), async () => {
    if (name.endsWith(notebookEnding)) {
      await readNotebookFile(file);
      return;
    }
    if (file.size > 512e6) {
      throw new LabError('limit', say.tooLarge(file.name));
    }
    // A browser that saves a second copy puts a number in.
    if (/\.attt(?: ?\(\d+\))?\.zip$/.test(name)) {
      await openBundle(file);
      return;
    }
    if (name.endsWith('.jsonl')) {
      const isNewest = screenRequests.begin();
      const run = await file.text();
      if (isNewest()) openRunText(run, file.name);
      return;
    }
    const isLast = taskRequests.watch();
    const text = await file.text();
    if (name.endsWith('.toml')) await readConfig(text, file.name);
    else if (name.endsWith('.tw-pddl')) await readTask(text, file.name, isLast);
    else if (name.endsWith('.json')) {
      if (looksLikeSettings(text)) await readSettings(text, file.name);
      else await readTask(text, file.name, isLast);
    } else {
      throw new LabError(
        'bad_input',
        `${file.name} is none of the files that open here: a model (.gguf), a run (.attt.zip, .jsonl), settings (config.toml, settings.json) or a world (scene.json, game.tw-pddl).`,
      );
    }
  });
}

/** Shows the run of a bundle, read only, once every file in it has been checked; its events are enough. */
async function openBundle(file: File): Promise<void> {
  const isNewest = screenRequests.begin();
  const { openEvents } = await import('../formats/bundle-read.ts');
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { events, problems } = await openEvents(bytes, file.name);
  if (!isNewest()) return;
  dispatch({ type: 'run_opened', label: { id: null, name: file.name }, events });
  const [first] = problems;
  if (!first) return;
  const others = problems.slice(1).map((problem) => problem.file);
  const some = `${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}`;
  inform(say.openInPart(file.name), say.lacks(first.file, first.problem, some));
}

function looksLikeSettings(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'att' in value;
  } catch {
    return false;
  }
}

/** `isLast`: no other task was chosen while the file was read. */
async function readTask(text: string, name: string, isLast: () => boolean): Promise<void> {
  if (!isLast()) return;
  const isNewest = taskRequests.begin();
  const task = await engine().call('openTask', { name, text });
  if (!isNewest()) return;
  dispatch({ type: 'task_chosen', task });
  inform(say.open(name), task.goal ? say.task(task.goal) : say.taskNotNamed);
}

async function readConfig(text: string, name: string): Promise<void> {
  const { parseConfigToml } = await import('../formats/settings.ts');
  const { patch, channel, notes } = parseConfigToml(text, name);
  const settings = { ...useLab.getState().settings, ...patch };
  dispatch({ type: 'settings_replaced', settings }, { type: 'channel', channel });
  inform(say.read(name), [settingsText(settings), ...notes].join(' '));
}

async function readSettings(text: string, name: string): Promise<void> {
  const { parseSettingsJson } = await import('../formats/settings.ts');
  const { patch, notes } = parseSettingsJson(text, name);
  const settings = { ...useLab.getState().settings, ...patch };
  dispatch({ type: 'settings_replaced', settings });
  inform(say.read(name), [settingsText(settings), ...notes].join(' '));
}

function settingsText(settings: Settings): string {
  const count = changedFields(settings, usualSettings(useLab.getState().task?.env)).length;
  if (count === 0) return say.noSettingDiffers;
  return count === 1 ? say.oneSettingDiffers : say.settingsDiffer(count);
}

/** Saves one of the two settings files, of these settings. */
export async function saveSettings(
  file: 'config.toml' | 'settings.json',
  settings: Settings,
): Promise<void> {
  await attempt(say.notSaved(file), async () => {
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
  await attempt(say.adapterNotSaved, async () => {
    saveDownload(await engine().call('exportAdapter', { id }));
  });
}

/** Saves everything of a run as a bundle; one from a file has no adapter to put in. */
export async function saveBundle(run: RunView): Promise<void> {
  await attempt(say.bundleNotSaved, async () => {
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
  await attempt(say.runNotSaved, async () => {
    if (run.id !== null) saveDownload(await engine().call('exportRun', { id: run.id }));
    else saveText(fileName(run.name), formatRunFile(eventsOf(run)), 'application/jsonl');
  });
}

/** Saves what a code repair changed as SWE-bench's predictions, one line. */
export async function savePrediction(run: RunView): Promise<void> {
  await attempt(say.predictionNotSaved, async () => {
    const { task, manifest } = run.started;
    const actions = run.steps.map(({ action }) => action);
    const patch = await engine().call('worldPatch', { task, actions });
    const prediction = predictionOf(manifest, task, patch ?? '');
    const name = `${prediction.instance_id}.predictions.jsonl`;
    saveText(name, predictionLine(prediction), 'application/jsonl');
  });
}

function fileName(name: string): string {
  return name.endsWith('.jsonl') ? name : `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.jsonl`;
}

/** Hands a text to the person as a file. */
export function saveText(name: string, text: string, type: string): void {
  saveBytes(name, new TextEncoder().encode(text), type);
}

/** Hands bytes to the person as a file. */
export function saveBytes(name: string, bytes: Uint8Array, type: string): void {
  saveDownload({ name, type, bytes });
}

function saveDownload({ name, type, bytes }: Download): void {
  saveBlob(name, new Blob([Uint8Array.from(bytes)], { type }));
}
