/** A part of the comparison with one row a method: how many runs stand behind it, and what came out. */

import type { ReactNode } from 'react';
import { saveText } from './actions.ts';
import { Icon } from './icons.tsx';
import { methodTable as say } from './strings.ts';

export interface MethodRow {
  readonly name: string;
  /** Of runs or pairs. */
  readonly count: number;
  readonly tasks: number;
  /** One for each label. */
  readonly cells: readonly ReactNode[];
}

export function MethodTable({
  id,
  title,
  aside,
  file,
  csv,
  counted,
  labels,
  rows,
  children,
}: {
  /** Of the heading. */
  id: string;
  title: string;
  aside: ReactNode;
  /** The name of the file that the CSV is saved as. */
  file: string;
  csv: () => string;
  /** What the rows' counts are of. */
  counted: string;
  labels: readonly string[];
  rows: readonly MethodRow[];
  /** Further controls of the bar. */
  children?: ReactNode;
}) {
  return (
    <section className="compare-part" aria-labelledby={id}>
      <div className="compare-bar">
        <h3 id={id}>{title}</h3>
        <span className="aside">{aside}</span>
        <button
          type="button"
          className="button small"
          onClick={() => saveText(file, csv(), 'text/csv')}
        >
          <Icon name="save" />
          {say.csv}
        </button>
        {children}
      </div>
      <div className="wide-table">
        <table>
          <thead>
            <tr>
              <th scope="col">{say.method}</th>
              {[counted, say.tasks, ...labels].map((label) => (
                <th key={label} scope="col" className="number">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, count, tasks, cells }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td className="number">{count}</td>
                <td className="number">{tasks}</td>
                {cells.map((cell, index) => (
                  <td key={labels[index]} className="number">
                    {cell}
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
