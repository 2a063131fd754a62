/** What the page does with models: loads, pauses, asks, deletes them. */

import { isAbort, LabError, toWire } from '../errors.ts';
import type { ModelRef, RemoteRef } from '../records.ts';
import { engine } from './engine.ts';
import type { Loading } from './loading.ts';
import { fits } from './memory-fit.ts';
import { attempt, report, settle } from './report.ts';
import { isRunning } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { load as say } from './strings.ts';

/** The model that comes with the page. */
export const bundledModel = 'household';

export async function refreshModels(): Promise<void> {
  await attempt(say.listFailed, async () => {
    dispatch({ type: 'stored_models', models: await engine().call('models', null) });
  });
}

/** The load in flight, and what shall become of its parts when it is aborted. */
interface LoadInFlight {
  readonly controller: AbortController;
  discard: boolean;
  /** Answers the question whether to load what may not fit. */
  answer: (go: boolean) => void;
}

let loading: LoadInFlight | null = null;

/** The answer to a person who loads or connects while an episode runs. */
function isInUse(): boolean {
  if (!isRunning(useLab.getState())) return false;
  report(say.inUse, toWire(new LabError('unsupported', say.stopRunFirst)));
  return true;
}

/**
 * Loads a model in place of the present one; true when it is ready. The present one stays usable
 * until then. A model that may not fit into memory asks first.
 */
export async function loadModel(ref: ModelRef): Promise<boolean> {
  if (isInUse()) return false;
  const url = ref.kind === 'url' ? ref.url : ref.kind === 'cached' ? ref.key : null;
  const from = ref.kind === 'url' ? 'download' : ref.kind === 'cached' ? 'cache' : ref.kind;
  const label = modelLabel(ref);
  const mine = begin({ label, from, url });
  try {
    if (ref.kind !== 'bundled' && !(await agreeToLoad(ref, mine))) {
      if (loading === mine) dispatch({ type: 'model_not_loaded' });
      return false;
    }
    const { context_length } = useLab.getState().settings;
    const items = engine().stream(
      'loadModel',
      { ref, contextLength: context_length },
      { signal: mine.controller.signal },
    );
    for (;;) {
      const next = await items.next();
      if (loading !== mine) return false;
      if (next.done) {
        dispatch(
          { type: 'model_loaded', model: next.value },
          { type: 'setting_changed', patch: { policy_model: settingOf(ref) } },
        );
        settle(say.notLoaded(label));
        await refreshModels();
        return true;
      }
      dispatch({ type: 'model_progress', progress: next.value });
    }
  } catch (thrown) {
    if (loading !== mine) return false;
    dispatch({ type: 'model_not_loaded' });
    if (mine.discard && url !== null) await deleteModel(url);
    if (!isAbort(thrown)) report(say.notLoaded(label), toWire(thrown));
    await refreshModels();
    return false;
  } finally {
    if (loading === mine) loading = null;
  }
}

/** Uses a served model from now on, once it has answered one question; true when it has. */
export async function connectModel(ref: RemoteRef): Promise<boolean> {
  if (isInUse()) return false;
  const mine = begin({ label: ref.model, from: 'server', url: null });
  const { signal } = mine.controller;
  try {
    const model = await engine().call('connectModel', ref, { signal });
    if (loading !== mine) return false;
    dispatch(
      { type: 'model_loaded', model },
      { type: 'setting_changed', patch: { policy_model: model.name } },
    );
    settle(say.connectFailed);
    return true;
  } catch (thrown) {
    if (loading !== mine) return false;
    dispatch({ type: 'model_not_loaded' });
    if (!isAbort(thrown)) report(say.connectFailed, toWire(thrown));
    return false;
  } finally {
    if (loading === mine) loading = null;
  }
}

/** A load of one's own; one that was on its way is given up. */
function begin(of: Pick<Loading, 'label' | 'from' | 'url'>): LoadInFlight {
  loading?.controller.abort();
  loading = { controller: new AbortController(), discard: false, answer: () => {} };
  dispatch({ type: 'model_loading', ...of });
  return loading;
}

/** Takes summaries from a served model from now on, once it has answered one question. */
export async function connectSummaries(ref: RemoteRef): Promise<void> {
  await attempt(say.summariesFailed, async () => {
    await engine().call('probeSummaries', ref);
    dispatch(
      { type: 'summary_server', server: ref },
      { type: 'setting_changed', patch: { summary_model: ref.model } },
    );
    settle(say.summariesFailed);
  });
}

export function disconnectSummaries(): void {
  dispatch(
    { type: 'summary_server', server: null },
    { type: 'setting_changed', patch: { summary_model: '' } },
  );
}

/** Reads the header first: a file that cannot run is refused before it is fetched, a large one asks. */
async function agreeToLoad(ref: ModelRef, mine: LoadInFlight): Promise<boolean> {
  const { signal } = mine.controller;
  const { settings } = useLab.getState();
  const preview = await engine()
    .call('previewModel', { ref, settings }, { signal })
    .catch((thrown: unknown) => {
      // Not every server answers ranges; then the file itself has to tell.
      if (toWire(thrown).code === 'network') return null;
      throw thrown;
    });
  if (!preview || loading !== mine) return loading === mine;
  const asking = !fits(preview);
  dispatch({ type: 'model_previewed', preview, asking });
  if (!asking) return true;
  const go = await new Promise<boolean>((resolve) => {
    mine.answer = resolve;
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
  if (go) dispatch({ type: 'model_agreed' });
  return go;
}

/** Loads what was asked about. */
export function loadAnyway(): void {
  loading?.answer(true);
}

/** Ends the load and keeps what was downloaded, so that it can go on later. */
export function pauseLoading(): void {
  loading?.controller.abort();
}

/** Ends the load and throws away what was downloaded. */
export function cancelLoading(): void {
  if (!loading) return;
  loading.discard = true;
  loading.controller.abort();
}

/** Asks what the model in use needs at the present settings. */
export async function refreshNeeds(): Promise<void> {
  const { model, settings } = useLab.getState();
  if (!model) return;
  await attempt(say.estimateFailed, async () => {
    const needs = await engine().call('previewModel', { ref: null, settings });
    if (useLab.getState().model === model) dispatch({ type: 'model_needs', needs });
  });
}

export async function deleteModel(key: string): Promise<void> {
  await attempt(say.deleteFailed, async () => {
    await engine().call('deleteModel', { key });
    await refreshModels();
  });
}

export async function deleteAllModels(): Promise<void> {
  await attempt(say.deleteAllFailed, async () => {
    await engine().call('deleteAllModels', null);
    await refreshModels();
  });
}

function modelLabel(ref: ModelRef): string {
  switch (ref.kind) {
    case 'bundled':
      return say.bundledPolicy;
    case 'url':
      return ref.url.split(/[?#]/)[0]?.split('/').at(-1) || ref.url;
    case 'file':
      return ref.file.name;
    case 'cached':
      return ref.key.split('/').at(-1) ?? ref.key;
    default:
      return ref satisfies never;
  }
}

/** How the settings name a model, so that the command line finds it again. */
function settingOf(ref: ModelRef): string {
  switch (ref.kind) {
    case 'bundled':
      return ref.name;
    case 'url':
      return ref.url;
    case 'file':
      return ref.file.name;
    case 'cached':
      return ref.key;
    default:
      return ref satisfies never;
  }
}
