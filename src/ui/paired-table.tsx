/** What each method changes: its runs against those of another method with the same task and seed. */

import { useMemo } from 'react';
import { saveText } from './actions.ts';
import { byMethod } from './compare-numbers.ts';
import { csvOf } from './csv.ts';
import { Icon } from './icons.tsx';
import { plural, valueText } from './numbers.ts';
import { type Paired, type PairedValue, pairedValues } from './paired-values.ts';
import type { RunView } from './run-view.ts';
import { pairedTable as say } from './strings.ts';

/** Nothing where no two methods share a task and seed. */
export function PairedTable({ runs }: { runs: readonly RunView[] }) {
  // Drawing tasks ten thousand times takes milliseconds.
  const paired = useMemo(() => pairedValues(byMethod(runs)), [runs]);
  if (!paired) return null;
  return (
    <section className="compare-part" aria-labelledby="paired-title">
      <div className="compare-bar">
        <h3 id="paired-title">{say.title(paired.against)}</h3>
        <span className="aside">
          {paired.comparisons === 0
            ? say.allAlike
            : say.what(plural(paired.comparisons, 'comparison'))}
        </span>
        <button
          type="button"
          className="button small"
          onClick={() => saveText('paired-differences.csv', csvFrom(paired), 'text/csv')}
        >
          <Icon name="save" />
          {say.csv}
        </button>
      </div>
      <div className="wide-table">
        <table>
          <thead>
            <tr>
              <th scope="col">{say.method}</th>
              <th scope="col" className="number">
                {say.pairs}
              </th>
              <th scope="col" className="number">
                {say.tasks}
              </th>
              {paired.methods[0]?.values.map(({ label }) => (
                <th key={label} scope="col" className="number">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {paired.methods.map(({ name, pairs, tasks, values }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td className="number">{pairs}</td>
                <td className="number">{tasks}</td>
                {values.map((value) => (
                  <td key={value.label} className="number">
                    <PairedCell {...value} />
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

function PairedCell({ difference, interval, p }: PairedValue) {
  return (
    <>
      {signed(difference)}
      {interval && (
        <span className="interval">
          {' '}
          [{signed(interval.low)}, {signed(interval.high)}]
        </span>
      )}
      <span className="interval">, {p === null ? say.noDifference : say.p(valueText(p))}</span>
    </>
  );
}

function signed(value: number | null): string {
  return value !== null && value > 0 ? `+${valueText(value)}` : valueText(value);
}

function csvFrom({ against, methods }: Paired): string {
  return csvOf([
    ['method', 'against', 'quantity', 'pairs', 'tasks', 'difference', 'low', 'high', 'p_holm'],
    ...methods.flatMap(({ name, pairs, tasks, values }) =>
      values.map(({ label, difference, interval, p }) => [
        name,
        against,
        label,
        pairs,
        tasks,
        difference,
        interval?.low ?? null,
        interval?.high ?? null,
        p,
      ]),
    ),
  ]);
}
