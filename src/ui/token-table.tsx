/** The tokens that were kept aside, as a table that can be sorted by any column and copied as CSV. */

import { useState } from 'react';
import type { Boundary, TokenColumns } from '../records.ts';
import { type CsvCell, csvOf } from './csv.ts';
import { Icon } from './icons.tsx';
import { valueText } from './numbers.ts';
import type { RunView } from './run-view.ts';
import { SortHead } from './sort-head.tsx';
import { type SortOrder, sortedBy } from './sorting.ts';
import { dispatch, useLab } from './store.ts';
import { tokenTable as say } from './strings.ts';
import { visibleText } from './tokens.ts';

interface Row {
  readonly boundary: Boundary;
  readonly tokens: TokenColumns;
  readonly j: number;
}

const columns: readonly {
  readonly key: string;
  readonly label: string;
  readonly value: (row: Row) => CsvCell;
}[] = [
  { key: 'step', label: say.step, value: ({ boundary }) => boundary.t },
  { key: 'place', label: say.place, value: ({ j }) => j + 1 },
  { key: 'id', label: say.id, value: ({ tokens, j }) => tokens.ids[j] ?? null },
  { key: 'piece', label: say.token, value: ({ tokens, j }) => tokens.pieces[j] ?? '' },
  { key: 'weight', label: say.weight, value: ({ tokens, j }) => tokens.weights[j] ?? null },
  { key: 'count', label: say.count, value: ({ tokens, j }) => tokens.counts[j] ?? null },
  { key: 'ce_before', label: say.ceBefore, value: ({ tokens, j }) => tokens.ceBefore[j] ?? null },
  { key: 'ce_after', label: say.ceAfter, value: ({ tokens, j }) => tokens.ceAfter[j] ?? null },
  { key: 'kl', label: say.kl, value: ({ tokens, j }) => tokens.kl?.[j] ?? null },
  { key: 'entropy', label: say.entropy, value: ({ tokens, j }) => tokens.entropy?.[j] ?? null },
];

export function TokenTable({ run }: { run: RunView }) {
  const pinned = useLab((state) => state.reading.pinned);
  const [order, setOrder] = useState<SortOrder>({ key: 'step', down: false });
  const [copied, setCopied] = useState(false);
  const rows = pinned.flatMap(({ seq, j }): Row[] => {
    const boundary = run.boundaries.find((one) => one.seq === seq);
    return boundary?.tokens ? [{ boundary, tokens: boundary.tokens, j }] : [];
  });
  const column = columns.find(({ key }) => key === order.key);
  const sorted = column ? sortedBy(rows, column.value, order.down) : rows;
  const csv = csvOf([
    columns.map(({ key }) => key),
    ...sorted.map((row) => columns.map(({ value }) => value(row))),
  ]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reached by keyboard
    <section className="token-table" aria-label={say.keptTokens} tabIndex={0}>
      <p className="token-table-head">
        {rows.length === 0 ? (
          say.empty
        ) : (
          <>
            <button
              type="button"
              className="button small"
              onClick={() =>
                navigator.clipboard.writeText(csv).then(
                  () => setCopied(true),
                  () => setCopied(false),
                )
              }
            >
              <Icon name="copy" />
              {copied ? say.copied : say.copyCsv}
            </button>
            <button
              type="button"
              className="button bare small"
              onClick={() => dispatch({ type: 'pins_cleared' })}
            >
              {say.emptyTable}
            </button>
          </>
        )}
      </p>
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              {columns.map(({ key, label }) => (
                <SortHead
                  key={key}
                  id={key}
                  order={order}
                  onSort={setOrder}
                  number={key !== 'piece'}
                >
                  {label}
                </SortHead>
              ))}
              <th>
                <span className="unseen">{say.takeOff}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((row) => (
              <tr key={`${row.boundary.seq}-${row.j}`}>
                {columns.map(({ key, value }) => {
                  const cell = value(row);
                  return (
                    <td key={key} className={key === 'piece' ? '' : 'number'}>
                      {key === 'piece' ? (
                        <button
                          type="button"
                          className="link token-text"
                          onClick={() =>
                            dispatch(
                              { type: 'step_selected', t: row.boundary.t, seq: row.boundary.seq },
                              { type: 'token_chosen', j: row.j },
                            )
                          }
                        >
                          {visibleText(String(cell))}
                        </button>
                      ) : key === 'id' ? (
                        cell
                      ) : (
                        valueText(typeof cell === 'number' ? cell : null)
                      )}
                    </td>
                  );
                })}
                <td>
                  <button
                    type="button"
                    className="button bare iconic small"
                    aria-label={say.takeOffNamed(row.j + 1, row.boundary.t)}
                    onClick={() =>
                      dispatch({ type: 'token_pinned', pin: { seq: row.boundary.seq, j: row.j } })
                    }
                  >
                    <Icon name="close" />
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
