/** Plans several episodes: which tasks, seeds and methods, how many that makes, what is not applicable. */

import { useEffect, useId, useState } from 'react';
import { type MethodName, methodNames } from '../config.ts';
import { LabError, toWire } from '../errors.ts';
import { parseIndices } from '../formats/indices.ts';
import type { TaskRef } from '../records.ts';
import { loadTasks } from './actions.ts';
import { Dialog } from './dialog.tsx';
import { plural } from './numbers.ts';
import { planQueue, startQueue } from './running.ts';
import { useLab } from './store.ts';
import { queueDialog as say } from './strings.ts';
import './queue-dialog.css';

export function QueueDialog({ onClose }: { onClose: () => void }) {
  const task = useLab((state) => state.task);
  const seed = useLab((state) => state.settings.seed);
  const method = useLab((state) => state.settings.method);
  const [tasks, setTasks] = useState(String(task?.index ?? 0));
  const [seeds, setSeeds] = useState(String(seed));
  const [methods, setMethods] = useState<readonly MethodName[]>([method]);
  const known = useTasks(task);
  const id = useId();
  const wish = {
    env: task?.env ?? '',
    split: task?.split ?? '',
    tasks: parseIndices(tasks),
    seeds: parseIndices(seeds),
    methods,
  };
  const plan = planOf(wish, known);
  return (
    <Dialog title={say.severalEpisodes} onClose={onClose}>
      <form
        className="queue"
        onSubmit={(event) => {
          event.preventDefault();
          if (typeof plan === 'string' || plan.episodes.length === 0) return;
          onClose();
          void startQueue(plan.experiment);
        }}
      >
        <p className="aside">{say.theyRunOneAfter}</p>
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
        <fieldset className="queue-methods">
          <legend>{say.methods}</legend>
          {methodNames.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={methods.includes(name)}
                onChange={(event) =>
                  setMethods(
                    methodNames.filter((one) =>
                      one === name ? event.target.checked : methods.includes(one),
                    ),
                  )
                }
              />
              {name}
            </label>
          ))}
        </fieldset>
        <p className="queue-sum" role="status">
          {typeof plan === 'string'
            ? plan
            : `${plural(plan.episodes.length, 'episode')}: ${plural(plan.experiment.tasks.length, 'task')} × ${plural(plan.experiment.seeds.length, 'seed')} × ${plural(plan.arms.filter((arm) => arm.notApplicable === null).length, 'method')}`}
        </p>
        {typeof plan !== 'string' &&
          plan.arms
            .filter((arm) => arm.notApplicable !== null)
            .map((arm) => (
              <p key={arm.name} className="aside warn-text">
                {say.leftOut(arm.name, arm.notApplicable ?? '')}
              </p>
            ))}
        <div className="dialog-buttons">
          <button
            type="submit"
            className="button primary"
            disabled={typeof plan === 'string' || plan.episodes.length === 0}
          >
            {say.runThem}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {say.cancel}
          </button>
        </div>
      </form>
    </Dialog>
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
): ReturnType<typeof planQueue> | string {
  const { tasks, seeds, methods } = wish;
  if (wish.split === 'file' || wish.split === '') {
    return say.taskFileNoPart;
  }
  if (!tasks) return say.tasksWantNumbersSuch;
  if (!seeds) return say.seedsWantNumbersSuch;
  if (methods.length === 0) return say.chooseOneMethodMore;
  if (!known) return say.readingTasks;
  try {
    return planQueue({ ...wish, tasks, seeds, methods }, known);
  } catch (thrown) {
    if (thrown instanceof LabError) return toWire(thrown).message;
    throw thrown;
  }
}
