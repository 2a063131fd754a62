/** All runs as a table: filtered, sorted, tagged and noted; the chosen ones are compared below. */

import { useMemo } from 'react';
import type { RunNotes, RunSummary } from '../records.ts';
import { noNotes } from '../store/notes.ts';
import { openRun, saveText } from './actions.ts';
import { addFiles, pickRuns } from './compare-actions.ts';
import { comparedIds } from './comparing.ts';
import { csvOf } from './csv.ts';
import { FileButton } from './file-button.tsx';
import { Icon, Mark } from './icons.tsx';
import { changeNotes } from './notes.ts';
import { minuteText } from './numbers.ts';
import { seriesOf } from './overlay-lines.ts';
import { endWording } from './run-view.ts';
import { SortHead } from './sort-head.tsx';
import { sortedBy } from './sorting.ts';
import { onlyReads } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { runTable as say } from './strings.ts';

interface Row {
  readonly run: RunSummary;
  readonly notes: RunNotes;
}

const columns: readonly {
  readonly key: string;
  readonly label: string;
  readonly number?: boolean;
  readonly value: (row: Row) => string | number | null;
}[] = [
  { key: 'started', label: say.started, value: ({ run }) => run.createdAt },
  { key: 'goal', label: say.task, value: ({ run }) => run.goal },
  { key: 'method', label: say.method, value: ({ run }) => run.manifest.settings.method },
  { key: 'seed', label: say.seed, number: true, value: ({ run }) => run.manifest.settings.seed },
  { key: 'end', label: say.end, value: ({ run }) => endText(run) },
  { key: 'steps', label: say.steps, number: true, value: ({ run }) => run.steps },
  { key: 'updates', label: say.updates, number: true, value: ({ run }) => run.updates },
  { key: 'rollbacks', label: say.rollbacks, number: true, value: ({ run }) => run.rollbacks },
  { key: 'reward', label: say.reward, number: true, value: ({ run }) => run.reward },
  { key: 'tags', label: say.tags, value: ({ notes }) => notes.tags.join(' ') },
  { key: 'note', label: say.note, value: ({ notes }) => notes.note },
  { key: 'split', label: say.split, value: ({ run }) => taskText(run) },
  { key: 'model', label: say.model, value: ({ run }) => run.manifest.modelName },
];

export function RunTable() {
  const stored = useLab((state) => state.runs);
  const { files, filter, order, picked, views } = useLab((state) => state.comparing);
  const compared = useMemo(() => comparedIds({ picked, views }), [picked, views]);
  const notes = useLab((state) => state.notebook.notes);
  const all = [...files.map(({ summary }) => summary), ...stored].map(
    (run): Row => ({ run, notes: notes[run.id] ?? noNotes }),
  );
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const passing = all.filter((row) => {
    const text = columns
      .map(({ value }) => value(row))
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const column = columns.find(({ key }) => key === order.key);
  const rows = column ? sortedBy(passing, column.value, order.down) : passing;
  const shown = rows.map(({ run }) => run.id);
  const allPicked = shown.length > 0 && shown.every((id) => picked.includes(id));
  const pick = (ids: readonly string[], on: boolean) =>
    void pickRuns(
      on ? [...new Set([...picked, ...ids])] : picked.filter((id) => !ids.includes(id)),
    );
  return (
    <section className="compare-part" aria-label={say.title}>
      <div className="compare-bar">
        <input
          type="search"
          aria-label={say.filterRuns}
          placeholder={say.filterHint}
          value={filter}
          onChange={(event) => dispatch({ type: 'compare_filter', text: event.target.value })}
        />
        <span className="aside">{say.of(rows.length, all.length)}</span>
        <FileButton
          label={say.files}
          accept=".jsonl"
          multiple
          onFiles={(files) => void addFiles(files)}
        >
          <Icon name="open" />
          {say.addFiles}
        </FileButton>
        <button
          type="button"
          className="button small"
          disabled={rows.length === 0}
          onClick={() =>
            saveText(
              'runs.csv',
              csvOf([
                columns.map(({ label }) => label),
                ...rows.map((row) => columns.map(({ value }) => value(row))),
              ]),
              'text/csv',
            )
          }
        >
          <Icon name="save" />
          {say.csv}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard */}
      <div className="wide-table runs-table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>
                <input
                  type="checkbox"
                  aria-label={say.chooseAll}
                  checked={allPicked}
                  onChange={(event) => pick(shown, event.target.checked)}
                />
              </th>
              {columns.map(({ key, label, number }) => (
                <SortHead
                  key={key}
                  id={key}
                  order={order}
                  number={number ?? false}
                  onSort={(next) => dispatch({ type: 'compare_order', order: next })}
                >
                  {label}
                </SortHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <RunRow
                key={row.run.id}
                row={row}
                picked={picked.includes(row.run.id)}
                place={compared.indexOf(row.run.id) + 1}
                onPick={(on) => pick([row.run.id], on)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {all.length === 0 && <p className="aside">{say.none}</p>}
    </section>
  );
}

function RunRow({
  row,
  picked,
  place,
  onPick,
}: {
  row: Row;
  picked: boolean;
  /** 1, 2, … among the compared runs; 0 where it is none: not chosen, not read yet, or without an event. */
  place: number;
  onPick: (on: boolean) => void;
}) {
  const { run, notes } = row;
  const isFile = run.id.startsWith('file:');
  const readsOnly = useLab(onlyReads);
  const locked = isFile || readsOnly;
  return (
    <tr data-picked={picked}>
      <td className="pick">
        <input
          type="checkbox"
          aria-label={say.compareRun(run.createdAt, run.goal)}
          checked={picked}
          onChange={(event) => onPick(event.target.checked)}
        />
        {place > 0 && <span className={`key-${seriesOf(place - 1)}`}>{place}</span>}
      </td>
      <td className="nowrap">
        {isFile ? (
          run.id.slice('file:'.length)
        ) : (
          <button type="button" className="link" onClick={() => void openRun(run.id)}>
            {minuteText(run.createdAt)}
          </button>
        )}
      </td>
      <td className="run-table-goal" data-tip={run.goal}>
        {run.goal}
      </td>
      <td>{run.manifest.settings.method}</td>
      <td className="number">{run.manifest.settings.seed}</td>
      <td className="nowrap">
        <span className="run-table-end">
          <Mark tone={run.reason ? endWording(run.reason).tone : 'quiet'} />
          {endText(run)}
        </span>
      </td>
      <td className="number">{run.steps}</td>
      <td className="number">{run.updates}</td>
      <td className="number">{run.rollbacks}</td>
      <td className="number">{run.reward}</td>
      <td>
        <input
          className="cell"
          aria-label={say.tagsOf}
          placeholder={locked ? undefined : say.add}
          key={notes.tags.join(' ')}
          defaultValue={notes.tags.join(' ')}
          disabled={locked}
          onBlur={(event) => {
            const tags = [...new Set(event.target.value.split(/[\s,]+/).filter(Boolean))];
            if (tags.join(' ') === notes.tags.join(' ')) return;
            void changeNotes(run.id, (was) => ({ ...was, tags }));
          }}
        />
      </td>
      <td>
        <input
          className="cell note"
          aria-label={say.noteOf}
          placeholder={locked ? undefined : say.add}
          key={notes.note}
          defaultValue={notes.note}
          disabled={locked}
          onBlur={(event) => {
            const note = event.target.value.trim();
            if (note === notes.note) return;
            void changeNotes(run.id, (was) => ({ ...was, note }));
          }}
        />
      </td>
      <td className="nowrap">{taskText(run)}</td>
      <td className="nowrap">{run.manifest.modelName}</td>
    </tr>
  );
}

function taskText({ manifest: { task } }: RunSummary): string {
  return `${task.split} ${task.index}`;
}

function endText({ reason }: RunSummary): string {
  return reason ? endWording(reason).label : say.interrupted;
}
