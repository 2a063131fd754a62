/** Plans several episodes, by hand or by an experiment file: how many, what they could tell, what is not applicable. */

import { useEffect, useId, useState } from 'react';
import { type MethodName, methodNames } from '../config.ts';
import { LabError, toWire } from '../errors.ts';
import type { Plan } from '../experiment/plan.ts';
import { designOf, powerInWords } from '../experiment/power.ts';
import { parseIndices } from '../formats/indices.ts';
import type { TaskRef } from '../records.ts';
import { loadTasks } from './actions.ts';
import { useShelf } from './adapter-shelf-state.ts';
import { CheckList } from './check-list.tsx';
import { Dialog } from './dialog.tsx';
import { FileButton } from './file-button.tsx';
import { Icon } from './icons.tsx';
import { plural } from './numbers.ts';
import { openExperiment, planQueue, startQueue } from './queue.ts';
import { attempt } from './report.ts';
import { useLab } from './store.ts';
import { methods as methodTexts, queueDialog as say } from './strings.ts';
import './queue-dialog.css';

export function QueueDialog({ onClose }: { onClose: () => void }) {
  const task = useLab((state) => state.task);
  const seed = useLab((state) => state.settings.seed);
  const method = useLab((state) => state.settings.method);
  const [tasks, setTasks] = useState(String(task?.index ?? 0));
  const [seeds, setSeeds] = useState(String(seed));
  const [methods, setMethods] = useState<readonly MethodName[]>([method]);
  const [opened, setOpened] = useState<Plan | null>(null);
  const start = useShelf(({ start, adapters }) => adapters?.find(({ id }) => id === start?.id));
  const known = useTasks(task);
  const id = useId();
  const wish = {
    env: task?.env ?? '',
    split: task?.split ?? '',
    tasks: parseIndices(tasks),
    seeds: parseIndices(seeds),
    methods,
  };
  const byHand = planOf(wish, known);
  const plan = opened ?? byHand;
  const count = typeof plan === 'string' ? 0 : plan.episodes.length;
  const open = (file: File | undefined) =>
    file &&
    attempt(say.experimentNotOpened, async () =>
      setOpened(await openExperiment(await file.text(), file.name)),
    );
  return (
    <Dialog title={say.severalEpisodes} onClose={onClose}>
      <form
        className="queue"
        onSubmit={(event) => {
          event.preventDefault();
          if (typeof plan === 'string' || count === 0) return;
          onClose();
          void startQueue(plan, opened !== null);
        }}
      >
        {opened ? (
          <>
            <p>
              <strong>{opened.experiment.name}</strong>: {opened.experiment.env},{' '}
              {opened.experiment.split}
            </p>
            {opened.experiment.question !== '' && <p>{opened.experiment.question}</p>}
            <p className="aside">{say.fileHelp}</p>
          </>
        ) : (
          <>
            <p className="aside">
              {say.help} {start && say.startsFrom(start.name)}
            </p>
            <label htmlFor={`${id}-tasks`}>
              {say.tasks} {wish.split || say.split}
            </label>
            <input
              id={`${id}-tasks`}
              value={tasks}
              autoComplete="off"
              placeholder="0-9"
              onChange={(event) => setTasks(event.target.value)}
            />
            <label htmlFor={`${id}-seeds`}>{say.seeds}</label>
            <input
              id={`${id}-seeds`}
              value={seeds}
              autoComplete="off"
              placeholder="1-3"
              onChange={(event) => setSeeds(event.target.value)}
            />
            <CheckList
              legend={say.methods}
              legendSeen
              options={methodNames}
              tips={methodTexts}
              chosen={methods}
              onChange={setMethods}
            />
          </>
        )}
        <p className="queue-sum" role="status">
          {typeof plan === 'string' ? plan : sumOf(plan)}
        </p>
        {typeof plan !== 'string' && <PlanNotes plan={plan} />}
        <div className="dialog-buttons">
          <button type="submit" className="button primary" disabled={count === 0}>
            {say.runThem}
          </button>
          <FileButton
            className="button"
            label={say.openExperiment}
            accept=".toml"
            tip={say.tomlFile}
            onFiles={([file]) => void open(file)}
          >
            <Icon name="open" />
            {say.openExperiment}
          </FileButton>
          <button
            type="button"
            className="button"
            onClick={() => (opened ? setOpened(null) : onClose())}
          >
            {opened ? say.chooseByHand : say.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** `20 episodes: 5 tasks × 2 seeds × 2 arms`; arms that are not applicable are not among them. */
function sumOf({ experiment, arms, episodes }: Plan): string {
  const run = arms.filter((arm) => arm.notApplicable === null);
  const what = arms.every(({ name, method }) => name === method) ? 'method' : 'arm';
  return say.sum(
    plural(episodes.length, 'episode'),
    plural(experiment.tasks.length, 'task'),
    plural(experiment.seeds.length, 'seed'),
    plural(run.length, what),
  );
}

/** What the plan could tell, and which arms are left out. */
function PlanNotes({ plan }: { plan: Plan }) {
  const design = designOf(plan);
  const left = plan.arms.filter((arm) => arm.notApplicable !== null);
  return (
    <>
      {design && <p className="aside">{powerInWords(design)}</p>}
      {left.map((arm) => (
        <p key={arm.name} className="aside warn-text">
          {say.leftOut(arm.name, arm.notApplicable ?? '')}
        </p>
      ))}
    </>
  );
}

/** The tasks of the chosen split, once they are there. */
function useTasks(task: TaskRef | null): readonly TaskRef[] | null {
  const [tasks, setTasks] = useState<readonly TaskRef[] | null>(null);
  useEffect(() => {
    if (task && task.split !== 'file') void loadTasks(task.env, task.split).then(setTasks);
  }, [task]);
  return tasks;
}

/** The plan, or what is wrong with the wish in words. */
function planOf(
  wish: {
    env: string;
    split: string;
    tasks: readonly number[] | null;
    seeds: readonly number[] | null;
    methods: readonly MethodName[];
  },
  known: readonly TaskRef[] | null,
): Plan | string {
  const { tasks, seeds, methods } = wish;
  if (wish.split === 'file' || wish.split === '') {
    return say.needsSplit;
  }
  if (!tasks) return say.tasksUnreadable;
  if (!seeds) return say.seedsUnreadable;
  if (methods.length === 0) return say.noMethod;
  if (!known) return say.readingTasks;
  try {
    return planQueue({ ...wish, tasks, seeds, methods }, known);
  } catch (thrown) {
    if (thrown instanceof LabError) return toWire(thrown).message;
    throw thrown;
  }
}
