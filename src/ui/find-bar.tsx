/** Search and filter of the transcript: what is found is marked and walked through, what is filtered out is hidden. */

import { useMemo } from 'react';
import { matches, type StepFilter, stepFilters } from './find.ts';
import { Icon } from './icons.tsx';
import { NumberFilterRow } from './number-filter.tsx';
import type { RunView, TranscriptItem } from './run-view.ts';
import { shownStep } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { findBar as say } from './strings.ts';
import './find-bar.css';

export function FindBar({
  run,
  shown,
}: {
  run: RunView;
  /** What the filters keep. */
  shown: readonly TranscriptItem[];
}) {
  const { find, filter, numberFilter } = useLab((state) => state.reading);
  // Where nothing is searched, it is the same for every step.
  const t = useLab((state) => (state.reading.find === '' ? 0 : shownStep(state)));
  const steps = useMemo(
    () => [...new Set(shown.filter((item) => matches(item, find)).map((item) => item.t))],
    [shown, find],
  );
  const before = steps.findLast((one) => one < t) ?? steps.at(-1);
  const after = steps.find((one) => one > t) ?? steps[0];
  const go = (to: number | undefined) =>
    to !== undefined && dispatch({ type: 'step_selected', t: to });
  const filtered = filter !== 'all' || numberFilter !== null;
  return (
    <search>
      <div className="find-bar">
        <label className="find-field">
          <Icon name="search" />
          <span className="unseen">{say.searchTranscript}</span>
          <input
            type="search"
            data-find
            placeholder={say.search}
            value={find}
            onChange={(event) => dispatch({ type: 'find', text: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter') {
                event.preventDefault();
                go(event.shiftKey ? before : after);
              } else if (event.key === 'Escape') {
                if (find === '') event.currentTarget.blur();
                else dispatch({ type: 'find', text: '' });
              }
            }}
          />
        </label>
        {find !== '' && (
          <span className="find-steps">
            <output>
              {steps.length === 0 ? say.notFound : say.of(place(steps, t), steps.length)}
            </output>
            <button
              type="button"
              className="button bare iconic small"
              aria-label={say.previous}
              disabled={before === undefined}
              onClick={() => go(before)}
            >
              <Icon name="left" />
            </button>
            <button
              type="button"
              className="button bare iconic small"
              aria-label={say.next}
              disabled={after === undefined}
              onClick={() => go(after)}
            >
              <Icon name="right" />
            </button>
          </span>
        )}
        <label className="find-filter">
          <span className="unseen">{say.showOnly}</span>
          <select
            value={filter}
            data-on={filter !== 'all'}
            onChange={(event) => {
              const chosen = stepFilters.find((one) => one.filter === event.target.value);
              if (chosen) dispatch({ type: 'filter', filter: chosen.filter satisfies StepFilter });
            }}
          >
            {stepFilters.map((one) => (
              <option key={one.filter} value={one.filter}>
                {one.label}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          className="button bare iconic small"
          aria-label={say.byNumber}
          aria-expanded={numberFilter !== null}
          data-tip={say.byNumberHelp}
          onClick={() =>
            dispatch({
              type: 'number_filter',
              filter: numberFilter ? null : { number: 'seconds', side: 'least', value: null },
            })
          }
        >
          <Icon name="funnel" />
        </button>
        {filtered && (
          <output className="find-count">{say.shownOfAll(shown.length, run.items.length)}</output>
        )}
      </div>
      <NumberFilterRow run={run} />
    </search>
  );
}

/** Where the step on screen is among the found ones; a dash between two of them. */
function place(steps: readonly number[], t: number): string {
  const at = steps.indexOf(t);
  return at < 0 ? '–' : String(at + 1);
}
