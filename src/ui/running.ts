/** What the page does with the engine's episodes: start, take up, control, and several in a row. */

import { isAbort, LabError, toWire } from '../errors.ts';
import type { RunSummary, StopReason } from '../records.ts';
import { nextTry } from '../tries.ts';
import type { Control, RunItem } from '../workers/api.ts';
import { refreshRuns } from './actions.ts';
import { useShelf } from './adapter-shelf-state.ts';
import { engine } from './engine.ts';
import { screenRequests } from './latest.ts';
import { hadModel, loadAgain, loadNamed, pauseLoading } from './load.ts';
import { tellEnd } from './notify.ts';
import { attempt, report } from './report.ts';
import { eventsOf, type RunView } from './run-view.ts';
import { isRunning, type UiEvent } from './state.ts';
import { keepStorage } from './storage.ts';
import { dispatch, useLab } from './store.ts';
import { running as say } from './strings.ts';
import { mayWrite, tellOtherTabs } from './writer.ts';

/** How long items of a run are gathered before the page draws them. */
const gatherMs = 80;

type Mode = 'run' | 'step';

/** Whether a start is on its way, from the click to its last episode's end: what loads or is asked has no run yet. */
let busy = false;

/** Does what starts episodes, and nothing where another start is on its way. */
export async function startAlone(start: () => Promise<unknown>): Promise<void> {
  if (busy) return;
  busy = true;
  try {
    await start();
  } finally {
    busy = false;
  }
}

/** Runs one episode of the chosen task; loads the model that the settings name first where none is loaded. */
export function startRun(mode: Mode): Promise<void> {
  return startAlone(() => runTask(mode));
}

async function runTask(mode: Mode): Promise<void> {
  if (!(await readyToRun())) return;
  const { task, settings, summaryServer } = useLab.getState();
  if (!task) {
    refuse(new LabError('not_found', say.noTask));
    return;
  }
  const start = useShelf.getState().start;
  const startFrom = start && ({ kind: 'shelf', id: start.id } as const);
  const input = { task, settings, summaryServer, startFrom };
  await followTries(() => engine().stream('run', input), mode);
}

/** Goes on with a run that was stopped or interrupted, with the model it was made with. */
export function resumeRun(id: string, mode: Mode = 'run'): Promise<void> {
  return startAlone(() => takeUp(id, mode));
}

async function takeUp(id: string, mode: Mode): Promise<void> {
  dispatch({ type: 'resume_offered', id: null });
  const run = useLab.getState().runs.find((one) => one.id === id);
  if (!run || isRunning(useLab.getState()) || !mayWrite()) return;
  const { model } = useLab.getState();
  const { modelSha256, settings } = run.manifest;
  if (model?.sha256 !== modelSha256) {
    const ready = hadModel(modelSha256) ? loadAgain() : loadNamed(settings.policy_model);
    if (!(await ready)) return;
  }
  const { summaryServer } = useLab.getState();
  await followTries(() => engine().stream('resume', { id, summaryServer }), mode);
}

/** Runs anew from step `t` of a run: the steps up to there are taken over, the settings are the form's. */
export function forkRun(run: RunView, t: number): Promise<void> {
  return startAlone(() => forkFrom(run, t));
}

async function forkFrom(run: RunView, t: number): Promise<void> {
  if (!(await readyToRun())) return;
  const { settings, summaryServer } = useLab.getState();
  const input = { record: eventsOf(run), run: run.id, t, settings, summaryServer };
  await followTries(() => engine().stream('fork', input), 'run');
}

/** True for runs that did not come to their own end. */
export function canResume({ reason, steps }: Pick<RunSummary, 'reason' | 'steps'>): boolean {
  const cut: readonly (StopReason | null)[] = [
    null,
    'stopped',
    'engine_error',
    'environment_error',
  ];
  return steps > 0 && cut.includes(reason);
}

/** Ends the queue with the episode in progress, which is stopped. */
export async function stopQueue(): Promise<void> {
  dispatch({ type: 'queue_stopping' });
  await control('stop');
}

/** Asks something of the episode in flight. One that is still starting can only be stopped. */
export async function control(command: Control): Promise<void> {
  if (!isRunning(useLab.getState())) return;
  const id = useLab.getState().live?.summary?.id;
  if (id !== undefined) await send(id, command);
  // It has no name yet to send it by: `follow` sends it with the first item.
  else if (command === 'stop') dispatch({ type: 'control_sent', command });
}

/** Stops what runs in this tab, and a load on whose end a run may begin; resolves when the run has ended. */
export async function stopAndWait(): Promise<void> {
  pauseLoading();
  await stopQueue();
  await new Promise<void>((resolve) => {
    if (!isRunning(useLab.getState())) return resolve();
    const unsubscribe = useLab.subscribe((state) => {
      if (isRunning(state)) return;
      unsubscribe();
      resolve();
    });
  });
}

async function send(id: string, command: Control): Promise<void> {
  dispatch({ type: 'control_sent', command });
  await attempt(say.commandFailed, () => engine().call('control', { id, command }));
}

/** True when an episode can begin now; says what is in the way, and loads a model where there is none. */
export async function readyToRun(): Promise<boolean> {
  const state = useLab.getState();
  if (isRunning(state) || state.loading || !mayWrite()) return false;
  if (Object.keys(state.drafts).length > 0) {
    refuse(new LabError('bad_config', say.settingUnusable));
    return false;
  }
  return state.model !== null || loadAgain();
}

/**
 * Follows a run, and the tries of its task that the method makes after it: each is a run of its own. The first
 * one takes the screen, where it is what the person asked for; the others leave it to who reads something else.
 */
export async function followTries(
  open: () => AsyncGenerator<RunItem, RunSummary, void>,
  mode: Mode,
  asked = true,
): Promise<RunSummary | null> {
  let run = await follow(open, mode, asked);
  for (;;) {
    const ended = useLab.getState().live?.view?.ended;
    const reflections = run && ended ? nextTry(run.manifest, ended) : null;
    if (!run || !reflections) return run;
    const { task, settings } = run.manifest;
    const { summaryServer } = useLab.getState();
    const startFrom = { kind: 'run', id: run.id } as const;
    const input = { task, settings, summaryServer, reflections, startFrom };
    run = await follow(() => engine().stream('run', input), mode, false);
  }
}

/** Takes a run's items into the state until it ends; null when it did not begin or not end as a run does. */
async function follow(
  open: () => AsyncGenerator<RunItem, RunSummary, void>,
  mode: Mode,
  asked: boolean,
): Promise<RunSummary | null> {
  // Whoever comes here has waited: for a model, a list, the end of the try before.
  if (isRunning(useLab.getState()) || !mayWrite()) return null;
  if (asked) screenRequests.begin(); // a record that is still being read is not what was asked for last
  dispatch({ type: 'run_requested', asked });
  let ended: RunSummary | null = null;
  const gathered = gather();
  try {
    const items = open();
    for (;;) {
      const next = await items.next();
      if (next.done) {
        ended = next.value;
        gathered.flush();
        dispatch({ type: 'run_ended', run: next.value });
        break;
      }
      if (next.value.kind === 'started') {
        const { id } = next.value.run;
        if (useLab.getState().live?.status === 'stopping') void send(id, 'stop');
        // The loop asks for orders after each step: a pause asked for now holds after the first one.
        else if (mode === 'step') void send(id, 'pause');
      }
      gathered.add(next.value);
    }
    const error = useLab.getState().live?.view?.ended?.error;
    if (error) report(say.endedWithError, error);
  } catch (thrown) {
    gathered.flush();
    dispatch({ type: 'run_ended', run: null });
    if (!isAbort(thrown) && useLab.getState().engine !== 'failed') {
      report(say.stoppedWithError, toWire(thrown));
    }
  }
  tellEnd(ended);
  tellOtherTabs('runs_changed');
  if (useLab.getState().engine === 'ready') await refreshRuns();
  if (ended) await keepStorage(ended);
  return ended;
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

function refuse(error: LabError): void {
  report(say.notStarted, toWire(error));
}
