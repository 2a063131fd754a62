/** What came out of the chosen runs, by method: means with the numbers of runs and tasks and a 95 % interval. */

import { Fragment, useMemo } from 'react';
import { byMethod, finalValues } from './compare-numbers.ts';
import { csvOf } from './csv.ts';
import { MethodTable } from './method-table.tsx';
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
  const csv = () =>
    csvOf([
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
    <MethodTable
      id="finals-title"
      title={say.title}
      aside={
        <>
          {say.whatIntervals}
          {all.some(({ over }) => over === 'tasks') && ` ${say.overTasks}`}
          {oneTask && ` ${say.oneTask}`}
        </>
      }
      file="final-values.csv"
      csv={csv}
      counted={say.runs}
      labels={labels}
      rows={groups.map(({ name, values }) => ({
        ...{ name, count: values[0]?.n ?? 0, tasks: values[0]?.tasks ?? 0 },
        cells: values.map(({ label, n, value, interval }) => (
          <Fragment key={label}>
            {valueText(value)}
            {interval && (
              <span className="interval">
                {' '}
                [{valueText(interval.low)}, {valueText(interval.high)}]
              </span>
            )}
            {/* A value that some of the runs do not have. */}
            {n !== values[0]?.n && <span className="interval">, {say.n(n)}</span>}
          </Fragment>
        )),
      }))}
    >
      <ReportButton />
    </MethodTable>
  );
}
