/** The task: which world, which split, which one of it, and its goal; or a world from a file. */

import { chooseTask, openFile } from './actions.ts';
import { FileButton } from './file-button.tsx';
import { Icon } from './icons.tsx';
import { plural } from './numbers.ts';
import { isRunning, taskKey } from './state.ts';
import { useLab } from './store.ts';
import { taskCard as say } from './strings.ts';
import { Term } from './tip.tsx';
import './task-card.css';

export function TaskCard() {
  const environments = useLab((state) => state.environments);
  const task = useLab((state) => state.task);
  const tasks = useLab((state) => state.tasks);
  const running = useLab(isRunning);
  const env = environments.find((one) => one.id === task?.env) ?? environments[0];
  const fromFile = task?.split === 'file';
  const split = env?.splits.find((one) => one.name === task?.split);
  const known = env && split ? (tasks[taskKey(env.id, split.name)] ?? []) : [];
  const place = known.findIndex((one) => one.index === task?.index);
  const at = Math.max(0, place);
  const choose = (next: number) => {
    if (env && split) void chooseTask(env.id, split.name, next);
  };
  return (
    <section className="panel" aria-labelledby="task-title">
      <h2 id="task-title">
        <Term name="task">{say.task}</Term>
      </h2>
      {env ? (
        <>
          <div className="task-row">
            <select
              aria-label={say.world}
              data-tip={`${env.help}\n${env.citation}`}
              value={env.id}
              disabled={running}
              onChange={(event) => {
                const next = environments.find((one) => one.id === event.target.value);
                const first = next?.splits[0];
                if (next && first) void chooseTask(next.id, first.name, 0);
              }}
            >
              {environments.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.label}
                </option>
              ))}
            </select>
          </div>
          {env.code && <p className="aside task-note">{say.codeNeeds}</p>}
          <div className="task-row">
            <select
              aria-label={say.split}
              data-tip={split?.help ?? say.worldFile}
              value={fromFile ? 'file' : (split?.name ?? '')}
              disabled={running}
              onChange={(event) => void chooseTask(env.id, event.target.value, 0)}
            >
              {fromFile && <option value="file">{say.file}</option>}
              {env.splits.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.name} ({one.size})
                </option>
              ))}
            </select>
          </div>
          {!fromFile && (
            <div className="task-row task-index">
              <button
                type="button"
                className="button bare iconic small"
                aria-label={say.taskBefore}
                disabled={at === 0 || running}
                onClick={() => choose(at - 1)}
              >
                <Icon name="left" />
              </button>
              <input
                type="number"
                aria-label={say.number}
                min={0}
                max={Math.max(0, known.length - 1)}
                value={task?.index ?? 0}
                disabled={running}
                onChange={(event) => choose(Number(event.target.value))}
              />
              <span className="aside">{say.of(known.length)}</span>
              <button
                type="button"
                className="button bare iconic small"
                aria-label={say.taskAfter}
                disabled={at >= known.length - 1 || running}
                onClick={() => choose(at + 1)}
              >
                <Icon name="right" />
              </button>
              <button
                type="button"
                className="button bare iconic small"
                aria-label={say.anyTask}
                data-tip={say.anyTask}
                disabled={known.length < 2 || running}
                onClick={() => choose(Math.floor(Math.random() * known.length))}
              >
                <Icon name="dice" />
              </button>
            </div>
          )}
          <p className="goal">{task?.goal ?? (task ? say.goalUnknown : say.readingTasks)}</p>
          <p className="aside task-foot">
            <span>
              {fromFile ? say.fromFile : split ? `${task?.kind ?? ''}` : plural(0, 'task')}
            </span>
            <FileButton
              className="link"
              label={say.acceptedFiles}
              accept=".json,.tw-pddl"
              disabled={running}
              tip={say.openFileHelp}
              onFiles={([file]) => file && void openFile(file)}
            >
              {say.openFile}
            </FileButton>
          </p>
        </>
      ) : (
        <p className="aside">{say.readingWorlds}</p>
      )}
    </section>
  );
}
