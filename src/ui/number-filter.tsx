/** The filter of the transcript by a number: which one, on which side, of what. */

import { useMemo } from 'react';
import { Icon } from './icons.tsx';
import { itemNumberNames, itemNumbers, numbersOf } from './item-numbers.ts';
import { valueText } from './numbers.ts';
import type { RunView } from './run-view.ts';
import { dispatch, useLab } from './store.ts';
import { numberFilter as say } from './strings.ts';

export function NumberFilterRow({ run }: { run: RunView }) {
  const filter = useLab((state) => state.reading.numberFilter);
  const number = filter?.number ?? null;
  const known = useMemo(
    () => (number === null ? [] : [...numbersOf(run, number).values()]),
    [run, number],
  );
  if (filter === null) return null;
  const change = (part: Partial<typeof filter>) =>
    dispatch({ type: 'number_filter', filter: { ...filter, ...part } });
  const ends = known.length === 0 ? null : [Math.min(...known), Math.max(...known)];
  return (
    <fieldset className="find-bar number-filter">
      <legend className="unseen">{say.title}</legend>
      <select
        aria-label={say.number}
        value={filter.number}
        onChange={(event) => {
          const chosen = itemNumbers.find((one) => one === event.target.value);
          if (chosen) change({ number: chosen, value: null });
        }}
      >
        {itemNumbers.map((one) => (
          <option key={one} value={one}>
            {itemNumberNames[one]}
          </option>
        ))}
      </select>
      <select
        aria-label={say.side}
        value={filter.side}
        onChange={(event) => change({ side: event.target.value === 'most' ? 'most' : 'least' })}
      >
        <option value="least">{say.least}</option>
        <option value="most">{say.most}</option>
      </select>
      <input
        type="number"
        step="any"
        aria-label={say.value}
        // Another quantity begins empty.
        key={filter.number}
        defaultValue={filter.value ?? ''}
        onChange={({ target }) =>
          change({ value: target.value === '' ? null : target.valueAsNumber })
        }
      />
      <span className="aside">
        {ends === null ? say.none : say.ends(valueText(ends[0]), valueText(ends[1]))}
      </span>
      <button
        type="button"
        className="button bare iconic small"
        aria-label={say.clear}
        data-tip={say.clear}
        onClick={() => dispatch({ type: 'number_filter', filter: null })}
      >
        <Icon name="close" />
      </button>
    </fieldset>
  );
}
