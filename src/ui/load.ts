/** What the page does with models: loads, pauses, asks, deletes them. */

import { isAbort, LabError, toWire } from '../errors.ts';
import type { ModelRef, RemoteRef } from '../records.ts';
import { engine } from './engine.ts';
import { latest } from './latest.ts';
import type { Loading } from './loading.ts';
import { fits } from './memory-fit.ts';
import { attempt, report, settle } from './report.ts';
import { isRunning } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { load as say } from './strings.ts';
import { mayWrite } from './writer.ts';

/** The model that comes with the page. */
export const bundledModel = 'household';

const lists = latest();
const estimates = latest();

export async function refreshModels(): Promise<void> {
  const isNewest = lists.begin();
  await attempt(say.listFailed, async () => {
    const models = await engine().call('models', null);
    if (isNewest()) dispatch({ type: 'stored_models', models });
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

/** What was loaded or connected last in this visit: a file and a server's key are known to nothing else. */
type Source =
  | { readonly kind: 'model'; readonly ref: ModelRef; readonly sha256: string }
  | { readonly kind: 'server'; readonly ref: RemoteRef };

let last: Source | null = null;

/** True when a model was in use in this visit; with a hash, when it was the one of that content. */
export function hadModel(sha256?: string): boolean {
  if (sha256 === undefined) return last !== null;
  return last?.kind === 'model' && last.sha256 === sha256;
}

/** Loads what was in use, else what the settings name, for an engine without a model; true when it is ready. */
export function loadAgain(): Promise<boolean> {
  if (!last) return loadNamed(useLab.getState().settings.policy_model);
  if (last.kind === 'server') return connectModel(last.ref, false);
  const { ref } = last;
  if (ref.kind === 'url') return loadNamed(ref.url);
  return ref.kind === 'cached' ? loadNamed(ref.key) : loadModel(ref, false);
}

/**
 * Loads what a setting names: the bundled policy, or a model of an address that is kept here. What would have to
 * be downloaded is offered, what is a file of the person's or a server's is asked for.
 */
export async function loadNamed(name: string): Promise<boolean> {
  if (isBundled(name)) return loadModel({ kind: 'bundled', name: bundledModel }, false);
  const notice = { tone: 'error', title: say.notReady } as const;
  if (!/^https?:/.test(name)) {
    const message = say.ownModel(name);
    dispatch({ type: 'notice', notice: { ...notice, message, next: say.openOwn, action: null } });
    return false;
  }
  const key = keyOf(name);
  const isKept = useLab.getState().storedModels.some((one) => one.complete && one.key === key);
  if (isKept) return loadModel({ kind: 'cached', key }, false);
  const offer = { next: say.download, action: 'download_model', url: name } as const;
  dispatch({ type: 'notice', notice: { ...notice, message: say.notHere(name), ...offer } });
  return false;
}

export function isBundled(name: string): boolean {
  return name === '' || name === bundledModel;
}

/** The last part of a file's name or address. */
export function shortName(name: string): string {
  return name.split(/[?#]/)[0]?.split('/').at(-1) || name;
}

/** An address as the browser's cache writes it. */
function keyOf(url: string): string {
  const key = URL.canParse(url) ? new URL(url) : null;
  if (!key) return url;
  key.hash = '';
  return key.href;
}

/** The answer to a person who loads or connects while an episode runs. */
function isInUse(): boolean {
  if (!isRunning(useLab.getState())) return false;
  report(say.inUse, toWire(new LabError('unsupported', say.stopRunFirst)));
  return true;
}

/**
 * Loads a model in place of the present one; true when it is ready. The present one stays usable
 * until then. A model that may not fit into memory asks first. `asked`: by the person, so that the settings name
 * it from now on.
 */
export async function loadModel(ref: ModelRef, asked = true): Promise<boolean> {
  if (isInUse() || (ref.kind === 'url' && !mayWrite())) return false;
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
        last = { kind: 'model', ref, sha256: next.value.sha256 };
        dispatch({ type: 'model_loaded', model: next.value });
        if (asked) nameModel(settingOf(ref));
        settle(say.notLoaded(label));
        settle(say.notReady);
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
export async function connectModel(ref: RemoteRef, asked = true): Promise<boolean> {
  if (isInUse()) return false;
  const mine = begin({ label: ref.model, from: 'server', url: null });
  const { signal } = mine.controller;
  try {
    const model = await engine().call('connectModel', ref, { signal });
    if (loading !== mine) return false;
    last = { kind: 'server', ref };
    dispatch({ type: 'model_loaded', model });
    if (asked) nameModel(model.name);
    settle(say.connectFailed);
    settle(say.notReady);
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

function nameModel(name: string): void {
  dispatch({ type: 'setting_changed', patch: { policy_model: name } });
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
  const isNewest = estimates.begin();
  await attempt(say.estimateFailed, async () => {
    const needs = await engine().call('previewModel', { ref: null, settings });
    if (isNewest() && useLab.getState().model === model) dispatch({ type: 'model_needs', needs });
  });
}

export async function deleteModel(key: string): Promise<void> {
  if (!mayWrite()) return;
  await attempt(say.deleteFailed, async () => {
    await engine().call('deleteModel', { key });
    await refreshModels();
  });
}

export async function deleteAllModels(): Promise<void> {
  if (!mayWrite()) return;
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
      return shortName(ref.url);
    case 'file':
      return ref.file.name;
    case 'cached':
      return shortName(ref.key);
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
