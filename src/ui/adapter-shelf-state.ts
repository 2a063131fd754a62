/** The adapter shelf's state on the page, and everything that the page can do with it. */

import { create } from 'zustand';
import type { Settings } from '../config.ts';
import { LabError } from '../errors.ts';
import { notebookEnding } from '../formats/endings.ts';
import type { ChatMessage, ShelvedAdapter } from '../records.ts';
import { finish } from '../sequences.ts';
import type { AdapterCalls, AdapterStreams, Derivation, SideRef } from '../workers/adapters-api.ts';
import { engine } from './engine.ts';
import { latest } from './latest.ts';
import { attempt, inform } from './report.ts';
import { saveBlob } from './save-blob.ts';
import { adapterShelfState as say } from './strings.ts';
import { mayWrite, tellOtherTabs } from './writer.ts';

export type ComparedTexts = AdapterStreams['compareAdapters']['output'];
export type ModuleInfos = AdapterCalls['adapterModules']['output'];
type MergeInput = AdapterStreams['mergeAdapter']['input'];
type MergedFile = AdapterStreams['mergeAdapter']['output'];
export type Merged = Omit<MergedFile, 'file'>;

interface Shelf {
  /** Null until the list was read. */
  readonly adapters: readonly ShelvedAdapter[] | null;
  /** What is being worked on, in words; null when nothing is. */
  readonly busy: string | null;
  /** What the next run starts from; null for a fresh adapter. */
  readonly start: StartChoice | null;
}

/** An adapter of the shelf to start from. */
export interface StartChoice {
  readonly id: string;
  /** Null where its modules differ in rank or alpha, so that no settings train it. */
  readonly shape: StartShape | null;
}

export interface StartShape {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly string[];
}

export const useShelf = create<Shelf>()(() => ({ adapters: null, busy: null, start: null }));

/** Reads the list anew. */
export async function readShelf(): Promise<void> {
  await attempt(say.readFailed, async () => {
    useShelf.setState({ adapters: await engine().call('adapters', null) });
  });
}

/** Does one thing at a time; true when it went well. */
async function work(what: string, title: string, task: () => Promise<void>): Promise<boolean> {
  let done = false;
  useShelf.setState({ busy: what });
  await attempt(title, async () => {
    await task();
    done = true;
  });
  useShelf.setState({ busy: null });
  return done;
}

/** The same for what changes the shelf: reads it anew, and lets the other tabs know. */
async function change(what: string, title: string, task: () => Promise<void>): Promise<boolean> {
  if (!mayWrite()) return false;
  return work(what, title, async () => {
    await task();
    await readShelf();
    tellOtherTabs('shelf_changed');
  });
}

/** Opens one adapter from the files that belong to it; null where that failed. */
export async function openAdapter(files: readonly File[]): Promise<ShelvedAdapter | null> {
  let opened: ShelvedAdapter | null = null;
  const names = files.map(({ name }) => name).join(' and ');
  await change(say.reading(names), say.notOpened(names), async () => {
    const entry = await engine().call('openAdapter', { files });
    opened = entry;
    inform(say.shelf(entry.name), say.modulesFit(entry.modules, entry.modelName));
  });
  return opened;
}

/** The files of a PEFT folder, also those that are refused with the way out. */
const FOLDER =
  /^(adapter_config\.json|adapter_model\.bin|README\.md|.*\.safetensors(\.index\.json)?)$/;

/**
 * Opens every adapter among dropped files and gives back the rest: zips of PEFT folders, GGUF files
 * that say they are adapters, and the files of a folder dropped together.
 */
export async function takeAdapters(files: readonly File[]): Promise<readonly File[]> {
  const rest: File[] = [];
  const parts = files.filter(({ name }) => FOLDER.test(name));
  // A card alone is no adapter.
  const folder = parts.some(({ name }) => name !== 'README.md') ? parts : [];
  if (folder.length > 0) await openAdapter(folder);
  for (const file of files) {
    if (folder.includes(file)) continue;
    if (await isAdapter(file)) await openAdapter([file]);
    else rest.push(file);
  }
  return rest;
}

/** Zips that this program makes of other things. */
const ourZips: readonly string[] = ['.attt.zip', notebookEnding];

async function isAdapter(file: File): Promise<boolean> {
  const name = file.name.toLowerCase();
  if (name.endsWith('.zip')) return !ourZips.some((ending) => name.endsWith(ending));
  if (!name.endsWith('.gguf')) return false;
  // Not needed before the first file.
  const { readGguf } = await import('../formats/gguf.ts');
  const { blobSource } = await import('../formats/source.ts');
  try {
    const { metadata } = await readGguf(blobSource(file, file.name));
    return metadata['general.type'] === 'adapter';
  } catch {
    return false; // loading it as a model says what is wrong with it
  }
}

const startRequests = latest();

/** Chooses what the next run starts from; null is a fresh adapter. */
export async function chooseStart(id: string | null): Promise<void> {
  const isNewest = startRequests.begin();
  if (id === null) {
    useShelf.setState({ start: null });
    return;
  }
  await attempt(say.readFailed, async () => {
    const modules = await engine().call('adapterModules', { id });
    if (isNewest()) useShelf.setState({ start: { id, shape: shapeOf(modules) } });
  });
}

/** Why no run of these settings can start from an adapter of the shelf, in words; null where one can. */
export async function startProblem(id: string, settings: Settings): Promise<string | null> {
  let problem: string | null = null;
  await attempt(say.readFailed, async () => {
    problem = await engine().call('startProblem', { id, settings });
  });
  return problem;
}

function shapeOf(modules: ModuleInfos): StartShape | null {
  const [first] = modules;
  const same = modules.every(({ rank, alpha }) => rank === first?.rank && alpha === first.alpha);
  if (!first || !same) return null;
  const targets = [...new Set(modules.map(({ name }) => name.split('.').at(-1) ?? name))];
  return { rank: first.rank, alpha: first.alpha, targets };
}

export function shelveRun(id: string, name: string): Promise<boolean> {
  return change(say.keepingAdapter, say.keepFailed, async () => {
    const entry = await engine().call('shelveRun', { id, name });
    inform(say.shelf(entry.name), say.whereKept);
  });
}

export function renameAdapter(id: string, name: string, note: string): Promise<boolean> {
  return change(say.renaming, say.renameFailed, async () => {
    await engine().call('renameAdapter', { id, name, note });
  });
}

export function deleteAdapter(id: string): Promise<boolean> {
  return change(say.deleting, say.deleteFailed, async () => {
    await engine().call('deleteAdapter', { id });
    if (useShelf.getState().start?.id === id) useShelf.setState({ start: null });
  });
}

export function deriveAdapter(name: string, from: Derivation): Promise<boolean> {
  return change(say.making(name), say.notMade(name), async () => {
    await engine().call('deriveAdapter', { name, from });
    inform(say.shelf(name), say.whereMade);
  });
}

export function saveAdapterFile(input: AdapterCalls['saveAdapter']['input']): Promise<boolean> {
  return work(say.saving, say.saveFailed, async () => {
    const { name, type, bytes } = await engine().call('saveAdapter', input);
    saveBlob(name, new Blob([Uint8Array.from(bytes)], { type }));
  });
}

/** Merges and hands the file over; what the number format cost, or null where it failed. */
export async function mergeIntoModel(input: MergeInput): Promise<Merged | null> {
  const merged = await mergeToFile(input);
  if (merged) saveBlob(merged.name, merged.file);
  return merged;
}

/** The model in use with an adapter merged into it, as a file; null where it failed. */
export async function mergeToFile(input: MergeInput): Promise<MergedFile | null> {
  let merged: MergedFile | null = null;
  await work(say.merging, say.mergeFailed, async () => {
    merged = await finish(engine().stream('mergeAdapter', input), ({ bytes }) =>
      useShelf.setState({ busy: say.mergingMb((bytes / 1e6).toFixed(1)) }),
    );
  });
  return merged;
}

/** Runs one prompt under each side; null where it failed or was stopped. */
export async function compareOnPrompt(
  messages: readonly ChatMessage[],
  sides: readonly SideRef[],
  maxTokens: number,
  signal: AbortSignal,
): Promise<ComparedTexts | null> {
  let texts: ComparedTexts | null = null;
  await work(say.comparing, say.comparisonFailed, async () => {
    if (messages.every(({ content }) => content.trim() === '')) {
      throw new LabError('bad_input', say.promptEmpty);
    }
    const input = { messages, sides, maxTokens, temperature: 0, seed: 1 };
    const turns = engine().stream('compareAdapters', input, { signal });
    texts = await finish(turns, ({ done, total }) =>
      useShelf.setState({ busy: say.turn(done + 1, total) }),
    );
  });
  return texts;
}
