/** The head of a column that sorts its table. */

import type { ReactNode } from 'react';
import type { SortOrder } from './sorting.ts';

export function SortHead({
  id,
  order,
  onSort,
  number = false,
  children,
}: {
  id: string;
  order: SortOrder;
  onSort: (order: SortOrder) => void;
  number?: boolean;
  children: ReactNode;
}) {
  const sorted = order.key === id;
  return (
    <th
      scope="col"
      className={number ? 'number' : ''}
      aria-sort={sorted ? (order.down ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className="sort"
        onClick={() => onSort({ key: id, down: sorted && !order.down })}
      >
        {children}
        <span aria-hidden="true">{sorted ? (order.down ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}
