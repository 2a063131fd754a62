/** What each method changes: its runs against those of another method with the same task and seed. */

import { useMemo } from 'react';
import { byMethod } from './compare-numbers.ts';
import { csvOf } from './csv.ts';
import { MethodTable } from './method-table.tsx';
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
    <MethodTable
      id="paired-title"
      title={say.title(paired.against)}
      aside={say.what(plural(paired.comparisons, 'comparison'))}
      file="paired-differences.csv"
      csv={() => csvFrom(paired)}
      counted={say.pairs}
      labels={paired.methods[0]?.values.map(({ label }) => label) ?? []}
      rows={paired.methods.map(({ name, pairs, tasks, values }) => ({
        ...{ name, count: pairs, tasks },
        cells: values.map((value) => <PairedCell key={value.label} {...value} />),
      }))}
    />
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
      {p !== null && <span className="interval">, {say.p(valueText(p))}</span>}
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
