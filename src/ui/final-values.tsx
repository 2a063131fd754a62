/** What came out of the chosen runs, by method: means with the numbers of runs and tasks and a 95 % interval. */

import { useMemo } from 'react';
import { saveText } from './actions.ts';
import { byMethod, finalValues } from './compare-numbers.ts';
import { csvOf } from './csv.ts';
import { Icon } from './icons.tsx';
import { valueText } from './numbers.ts';
import { ReportButton } from './report-button.tsx';
import type { RunView } from './run-view.ts';
import { finalValues as say } from './strings.ts';

export function FinalValues({ runs }: { runs: readonly RunView[] }) {
  // Drawing tasks ten thousand times takes milliseconds.
  const groups = useMemo(
    () => byMethod(runs).map(({ name, runs: list }) => ({ name, values: finalValues(list) })),
    [runs],
  );
  const labels = groups[0]?.values.map(({ label }) => label) ?? [];
  const csv = csvOf([
    ['method', 'quantity', 'n', 'tasks', 'value', 'low', 'high', 'over'],
    ...groups.flatMap(({ name, values }) =>
      values.map(({ label, n, tasks, value, interval, over }) => [
        name,
        label,
        n,
        tasks,
        value,
        interval?.low ?? null,
        interval?.high ?? null,
        over,
      ]),
    ),
  ]);
  const all = groups.flatMap(({ values }) => values);
  const oneTask = all.every(({ tasks }) => tasks <= 1) && all.some(({ n }) => n > 1);
  return (
    <section className="compare-part" aria-labelledby="finals-title">
      <div className="compare-bar">
        <h3 id="finals-title">{say.title}</h3>
        <span className="aside">
          {say.whatIntervals}
          {all.some(({ over }) => over === 'tasks') && ` ${say.overTasks}`}
          {oneTask && ` ${say.oneTask}`}
        </span>
        <button
          type="button"
          className="button small"
          onClick={() => saveText('final-values.csv', csv, 'text/csv')}
        >
          <Icon name="save" />
          {say.csv}
        </button>
        <ReportButton />
      </div>
      <div className="wide-table">
        <table>
          <thead>
            <tr>
              <th scope="col">{say.method}</th>
              <th scope="col" className="number">
                {say.runs}
              </th>
              <th scope="col" className="number">
                {say.tasks}
              </th>
              {labels.map((label) => (
                <th key={label} scope="col" className="number">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map(({ name, values }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td className="number">{values[0]?.n ?? 0}</td>
                <td className="number">{values[0]?.tasks ?? 0}</td>
                {values.map(({ label, n, value, interval }) => (
                  <td key={label} className="number">
                    {valueText(value)}
                    {interval && (
                      <span className="interval">
                        {' '}
                        [{valueText(interval.low)}, {valueText(interval.high)}]
                      </span>
                    )}
                    {/* A value that some of the runs do not have. */}
                    {n !== values[0]?.n && <span className="interval">, {say.n(n)}</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
