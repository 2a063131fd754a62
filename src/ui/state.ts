/** The state of the page and the one pure function that changes it. Knows no worker and no React. */

import { type FieldName, type Settings, type SettingsPatch, settingsInto } from '../config.ts';
import type { WireError } from '../errors.ts';
import type { Channel } from '../formats/channel.ts';
import type {
  Capabilities,
  EnvDescription,
  EpisodeEvent,
  LoadProgress,
  ModelInfo,
  ModelPreview,
  Progress,
  RemoteRef,
  RunSummary,
  StoredModel,
  TaskRef,
} from '../records.ts';
import type { Control } from '../workers/api.ts';
import {
  type Comparing,
  type ComparingEvent,
  initialComparing,
  reduceComparing,
  withLatest,
  withoutRuns,
} from './comparing.ts';
import { startSettings } from './defaults.ts';
import {
  type LiveRun,
  requestedRun,
  withControl,
  withEvent,
  withProgress,
  withStart,
} from './live.ts';
import { type Loading, type ModelOrigin, startLoading, withLoadProgress } from './loading.ts';
import { initialNotebook, type Notebook, type NotebookEvent, reduceNotebook } from './notebook.ts';
import {
  initialReading,
  type Reading,
  type ReadingEvent,
  readAnother,
  reduceReading,
} from './reading.ts';
import { boundaryAt, foldRun, type RunLabel, type RunView } from './run-view.ts';
import { state as say } from './strings.ts';

export type Theme = 'system' | 'light' | 'dark';

/** What colours a token. */
export const quantities = [
  'weight',
  'ce_before',
  'ce_after',
  'ce_change',
  'kl',
  'entropy',
] as const;
export type Quantity = (typeof quantities)[number];

/** One boundary as text, all of them as rows of cells, or the tokens that were kept aside. */
export type TokenView = 'text' | 'matrix' | 'pinned';

/** Something the person has to know; stays until it is dismissed. */
export interface Notice {
  readonly id: number;
  readonly tone: 'error' | 'info';
  readonly title: string;
  readonly message: string;
  /** What to do about it, beyond what the message says; may be empty. */
  readonly next: string;
  /** The one button it offers. */
  readonly action: 'restart_engine' | 'free_storage' | 'download_model' | null;
  /** The address of the model that it offers to download. */
  readonly url?: string;
}

export interface UiState {
  readonly engine: 'starting' | 'ready' | 'failed';
  readonly capabilities: Capabilities | null;
  readonly environments: readonly EnvDescription[];
  /** The tasks of each split that was asked for, by `env/split`. */
  readonly tasks: Readonly<Record<string, readonly TaskRef[]>>;
  readonly task: TaskRef | null;
  readonly model: ModelInfo | null;
  readonly loading: Loading | null;
  /** Where the bytes of the model in use came from; null without one. */
  readonly modelFrom: ModelOrigin | null;
  /** What the model in use needs at the present settings; null until it was asked for. */
  readonly needs: ModelPreview | null;
  readonly storedModels: readonly StoredModel[];
  readonly settings: Settings;
  /** Where the summary model is, as an opened config.toml says. */
  readonly channel: Channel | null;
  /** The connected server of the summary model; its key lives in this tab only. */
  readonly summaryServer: RemoteRef | null;
  /** What was typed into a field and is not a value yet, with what is wrong. */
  readonly drafts: Readonly<
    Partial<Record<FieldName, { readonly text: string; readonly problem: string }>>
  >;
  readonly runs: readonly RunSummary[];
  readonly live: LiveRun | null;
  /** An earlier run or a file, read only; shown in place of the live run. */
  readonly opened: RunView | null;
  /** The step that is looked at; null follows the newest one. */
  readonly selected: number | null;
  /** True while the transcript scrolls with the run. */
  readonly following: boolean;
  readonly quantity: Quantity;
  readonly tokenView: TokenView;
  readonly reading: Reading;
  readonly comparing: Comparing;
  readonly notebook: Notebook;
  /** The colour scale: one for the whole run, or one for each boundary. */
  readonly scale: 'run' | 'boundary';
  readonly theme: Theme;
  /** Whether the left side is open: setup, runs and adapters. */
  readonly side: boolean;
  /** Whether files are held over the page. */
  readonly draggedOver: boolean;
  readonly notices: readonly Notice[];
  readonly nextNotice: number;
  /** Spoken by screen readers: the last thing that happened. */
  readonly status: string;
}

export type UiEvent =
  | ReadingEvent
  | ComparingEvent
  | NotebookEvent
  | { readonly type: 'drag_over'; readonly over: boolean }
  /** The next step of a run that plays back; the last one ends it. */
  | { readonly type: 'play_tick' }
  | { readonly type: 'engine_starting' }
  | { readonly type: 'engine_ready'; readonly capabilities: Capabilities }
  | { readonly type: 'engine_failed'; readonly error: WireError }
  | { readonly type: 'environments'; readonly environments: readonly EnvDescription[] }
  | {
      readonly type: 'tasks';
      readonly env: string;
      readonly split: string;
      readonly tasks: readonly TaskRef[];
    }
  | { readonly type: 'task_chosen'; readonly task: TaskRef }
  | { readonly type: 'stored_models'; readonly models: readonly StoredModel[] }
  | {
      readonly type: 'model_loading';
      readonly label: string;
      readonly from: ModelOrigin;
      readonly url: string | null;
    }
  | {
      readonly type: 'model_previewed';
      readonly preview: ModelPreview;
      readonly asking: boolean;
    }
  | { readonly type: 'model_agreed' }
  | { readonly type: 'model_needs'; readonly needs: ModelPreview }
  | { readonly type: 'model_progress'; readonly progress: LoadProgress }
  | { readonly type: 'model_loaded'; readonly model: ModelInfo }
  | { readonly type: 'model_not_loaded' }
  | { readonly type: 'setting_changed'; readonly patch: SettingsPatch }
  | {
      readonly type: 'setting_refused';
      readonly name: FieldName;
      readonly text: string;
      readonly problem: string;
    }
  | { readonly type: 'settings_replaced'; readonly settings: Settings }
  | { readonly type: 'channel'; readonly channel: Channel | null }
  | { readonly type: 'summary_server'; readonly server: RemoteRef | null }
  | { readonly type: 'runs'; readonly runs: readonly RunSummary[] }
  /** `asked`: by the person, just now; the episodes and tries that follow come by themselves. */
  | { readonly type: 'run_requested'; readonly asked: boolean }
  | { readonly type: 'run_started'; readonly run: RunSummary }
  | { readonly type: 'run_event'; readonly event: EpisodeEvent }
  /** `at`: when it arrived, in milliseconds on any clock. */
  | { readonly type: 'run_progress'; readonly progress: Progress; readonly at: number }
  | { readonly type: 'run_ended'; readonly run: RunSummary | null }
  | { readonly type: 'control_sent'; readonly command: Control }
  | {
      readonly type: 'run_opened';
      readonly label: RunLabel;
      readonly events: readonly EpisodeEvent[];
    }
  | { readonly type: 'run_closed' }
  /** `seq`: one of the step's boundaries, where it is that which is looked at. */
  | { readonly type: 'step_selected'; readonly t: number | null; readonly seq?: number }
  | { readonly type: 'follow'; readonly on: boolean }
  | { readonly type: 'quantity'; readonly quantity: Quantity }
  | { readonly type: 'token_view'; readonly view: TokenView }
  | { readonly type: 'scale'; readonly scale: 'run' | 'boundary' }
  | { readonly type: 'theme'; readonly theme: Theme }
  | { readonly type: 'side'; readonly open: boolean }
  | { readonly type: 'notice'; readonly notice: Omit<Notice, 'id'> }
  | { readonly type: 'notice_dismissed'; readonly id: number };

export const initialState: UiState = {
  engine: 'starting',
  capabilities: null,
  environments: [],
  tasks: {},
  task: null,
  model: null,
  loading: null,
  modelFrom: null,
  needs: null,
  storedModels: [],
  settings: startSettings,
  channel: null,
  summaryServer: null,
  drafts: {},
  runs: [],
  live: null,
  opened: null,
  selected: null,
  following: true,
  quantity: 'weight',
  tokenView: 'text',
  reading: initialReading,
  comparing: initialComparing,
  notebook: initialNotebook,
  scale: 'run',
  theme: 'system',
  side: true,
  draggedOver: false,
  notices: [],
  nextNotice: 1,
  status: say.startingEngine,
};

/** The next state. Equal state and event give an equal state; nothing else is read. */
export function reduce(state: UiState, event: UiEvent): UiState {
  switch (event.type) {
    case 'engine_starting':
      return { ...state, engine: 'starting', status: say.startingEngine };
    case 'engine_ready':
      return {
        ...state,
        engine: 'ready',
        capabilities: event.capabilities,
        status: say.engineReady,
      };
    case 'engine_failed':
      return {
        ...withNotice(state, {
          tone: 'error',
          title: say.engineStopped,
          message: event.error.message,
          next: say.restartHelp,
          action: 'restart_engine',
        }),
        engine: 'failed',
        model: null,
        loading: null,
        live: state.live && { ...state.live, status: 'ended', writing: null, phase: null },
        status: say.engineStoppedStatus,
      };
    case 'environments':
      return { ...state, environments: event.environments };
    case 'tasks':
      return {
        ...state,
        tasks: { ...state.tasks, [taskKey(event.env, event.split)]: event.tasks },
      };
    case 'task_chosen':
      return { ...state, task: event.task, settings: settingsHere(state, event.task.env) };
    case 'stored_models':
      return { ...state, storedModels: event.models };
    case 'model_loading':
      return { ...state, loading: startLoading(event), status: say.loading(event.label) };
    case 'model_previewed':
      return {
        ...state,
        loading: state.loading && {
          ...state.loading,
          preview: event.preview,
          asking: event.asking,
        },
        status: event.asking ? say.mayNotFit(event.preview.name) : state.status,
      };
    case 'model_agreed':
      return { ...state, loading: state.loading && { ...state.loading, asking: false } };
    case 'model_needs':
      return { ...state, needs: event.needs };
    case 'model_progress':
      return {
        ...state,
        loading: state.loading && withLoadProgress(state.loading, event.progress),
      };
    case 'model_loaded':
      return {
        ...state,
        model: event.model,
        modelFrom: state.loading?.from ?? state.modelFrom,
        needs: null,
        loading: null,
        status: say.loaded(event.model.name),
      };
    case 'model_not_loaded':
      return { ...state, loading: null, status: say.noModelLoaded };
    case 'setting_changed': {
      const drafts = { ...state.drafts };
      for (const name of Object.keys(event.patch)) delete drafts[name as FieldName]; // keys of a SettingsPatch
      return { ...state, settings: { ...state.settings, ...event.patch }, drafts };
    }
    case 'setting_refused':
      return {
        ...state,
        drafts: { ...state.drafts, [event.name]: { text: event.text, problem: event.problem } },
      };
    case 'settings_replaced':
      return { ...state, settings: event.settings, drafts: {} };
    case 'channel':
      return { ...state, channel: event.channel };
    case 'summary_server':
      return { ...state, summaryServer: event.server };
    case 'runs':
      return withRuns(state, event.runs);
    case 'run_requested':
      return {
        ...(event.asked ? onLive(state) : besideReading(state)),
        live: requestedRun,
        status: say.startingRun,
      };
    case 'run_started':
      return withLive(state, (live) => withStart(live, event.run));
    case 'run_event':
      return withRunEvent(state, event.event);
    case 'run_progress':
      return withLive(state, (live) => withProgress(live, event.progress, event.at));
    case 'run_ended':
      return {
        ...withLive(state, (live) => ({
          ...live,
          status: 'ended',
          summary: event.run ?? live.summary,
          phase: null,
          writing: null,
          asked: null,
        })),
        comparing: withLatest(state.comparing, state.live?.view ?? null),
        status: say.runEnded,
      };
    case 'control_sent':
      return withLive(state, (live) => withControl(live, event.command));
    case 'run_opened':
      return {
        ...state,
        opened: foldRun(event.events, event.label),
        selected: null,
        following: true,
        reading: readAnother(state.reading),
        comparing: { ...state.comparing, open: false },
        status: say.opened(event.label.name),
      };
    case 'run_closed':
      return {
        ...onLive(state),
        live: state.opened || state.live?.status !== 'ended' ? state.live : null,
      };
    case 'step_selected':
      return selectStep(state, event.t, event.seq);
    case 'follow':
      return event.on ? selectStep(state, null) : { ...state, following: false };
    case 'quantity':
      return { ...state, quantity: event.quantity };
    case 'token_view':
      return { ...state, tokenView: event.view };
    case 'scale':
      return { ...state, scale: event.scale };
    case 'play':
      return {
        ...state,
        // From the last step there is nowhere to go: it plays from the first.
        ...(event.on && atLastStep(state) ? selectStep(state, 1) : {}),
        reading: reduceReading(state.reading, event),
      };
    case 'play_tick':
      return tick(state);
    case 'find':
    case 'filter':
    case 'number_filter':
    case 'play_speed':
    case 'token_chosen':
    case 'token_pinned':
    case 'pins_cleared':
    case 'lower_panel':
    case 'enlarged':
    case 'range':
    case 'chart':
    case 'smoothing':
    case 'own_choice':
    case 'step_axis':
    case 'log_axis':
      return { ...state, reading: reduceReading(state.reading, event) };
    case 'writer':
    case 'queue_started':
    case 'queue_advanced':
    case 'queue_stopping':
    case 'queue_ended':
    case 'storage':
    case 'resume_offered':
    case 'notes':
    case 'notify':
    case 'tour':
      return { ...state, notebook: reduceNotebook(state.notebook, event) };
    case 'compare_open':
    case 'compare_picked':
    case 'compare_view':
    case 'compare_file':
    case 'compare_filter':
    case 'compare_order':
    case 'compare_quantity':
    case 'compare_grouped':
      return { ...state, comparing: reduceComparing(state.comparing, event) };
    case 'theme':
      return { ...state, theme: event.theme };
    case 'drag_over':
      return state.draggedOver === event.over ? state : { ...state, draggedOver: event.over };
    case 'side':
      return { ...state, side: event.open };
    case 'notice':
      return withNotice(state, event.notice);
    case 'notice_dismissed':
      return { ...state, notices: state.notices.filter((notice) => notice.id !== event.id) };
    default:
      return event satisfies never;
  }
}

/** The run on screen: the opened one, else the live one. */
export function shownRun(state: UiState): RunView | null {
  return state.opened ?? state.live?.view ?? null;
}

/** True from the click on Run until the stream has ended. */
export function isRunning(state: UiState): boolean {
  return state.live !== null && state.live.status !== 'ended';
}

/** True while another tab writes: this one only reads. */
export function onlyReads(state: UiState): boolean {
  return state.notebook.writer === 'other_tab';
}

/** The step on screen: the selected one, else the newest; 0 before the first. */
export function shownStep(state: UiState): number {
  return state.selected ?? shownRun(state)?.steps.at(-1)?.t ?? 0;
}

export function taskKey(env: string, split: string): string {
  return `${env}/${split}`;
}

function selectStep(state: UiState, t: number | null, seq: number | null = null): UiState {
  const last = lastStep(state);
  const selected = t === null || last === 0 ? null : Math.min(Math.max(1, t), last);
  const run = shownRun(state);
  const { boundary, token } = state.reading;
  const other = run && boundaryAt(run, selected, seq) !== boundaryAt(run, state.selected, boundary);
  return {
    ...state,
    selected,
    following: selected === null,
    reading:
      other || boundary !== seq
        ? { ...state.reading, boundary: seq, token: other ? null : token }
        : state.reading,
  };
}

function lastStep(state: UiState): number {
  return shownRun(state)?.steps.at(-1)?.t ?? 0;
}

function atLastStep(state: UiState): boolean {
  return shownStep(state) >= lastStep(state);
}

function tick(state: UiState): UiState {
  if (!state.reading.playing) return state;
  if (!atLastStep(state)) return selectStep(state, shownStep(state) + 1);
  return { ...state, reading: { ...state.reading, playing: false } };
}

function withNotice(state: UiState, notice: Omit<Notice, 'id'>): UiState {
  const same = (other: Notice) => other.title === notice.title && other.message === notice.message;
  return {
    ...state,
    notices: [
      ...state.notices.filter((other) => !same(other)),
      { ...notice, id: state.nextNotice },
    ].slice(-4),
    nextNotice: state.nextNotice + 1,
  };
}

/** The stored runs as they are now: one that is no longer among them is gone from the screen and the comparison. */
function withRuns(state: UiState, runs: UiState['runs']): UiState {
  const stay = new Set(runs.map(({ id }) => id));
  const gone = new Set(state.runs.map(({ id }) => id).filter((id) => !stay.has(id)));
  if (gone.size === 0) return { ...state, runs };
  const isGone = (id: string | null | undefined) => id != null && gone.has(id);
  const live = !isRunning(state) && isGone(state.live?.summary?.id) ? null : state.live;
  const opened = isGone(state.opened?.id) ? null : state.opened;
  const after = { ...state, runs, live, comparing: withoutRuns(state.comparing, gone) };
  if ((opened ?? live?.view) === (state.opened ?? state.live?.view)) return { ...after, opened };
  return { ...onLive(after), comparing: after.comparing };
}

/** The screen shows the live run and nothing of what was read before. */
function onLive(state: UiState): UiState {
  return {
    ...state,
    opened: null,
    selected: null,
    following: true,
    reading: readAnother(state.reading),
    comparing: { ...state.comparing, open: false },
  };
}

/** Another run follows in the live one's place: who reads one, or a comparison, goes on with it. */
function besideReading(state: UiState): UiState {
  if (state.opened) return state;
  const left = state.live?.view ?? null;
  if (left && !state.following) return { ...state, opened: left };
  const { comparing, reading } = state;
  return comparing.open ? { ...onLive(state), comparing, reading } : onLive(state);
}

function withLive(state: UiState, change: (live: LiveRun) => LiveRun): UiState {
  return state.live ? { ...state, live: change(state.live) } : state;
}

function withRunEvent(state: UiState, event: EpisodeEvent): UiState {
  if (!state.live) return state;
  const { live, status } = withEvent(state.live, event);
  return { ...state, live, status: status ?? state.status };
}

/** Whether a world's tasks are programs, as it says of itself. */
export function isCode({ environments }: UiState, env: string): boolean {
  return environments.some(({ id, code }) => id === env && code === true);
}

/** Other worlds want other defaults; what a person changed stays. */
function settingsHere({ task, settings }: UiState, env: string): Settings {
  const from = task?.env ?? env;
  return from === env ? settings : settingsInto(env, from, settings);
}
