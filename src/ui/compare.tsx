/** Several runs at once: the table of all runs, and what the chosen ones have in common and apart. */

import { useMemo } from 'react';
import { differences } from './compare-numbers.ts';
import { comparedRuns } from './comparing.ts';
import { FinalValues } from './final-values.tsx';
import { Icon } from './icons.tsx';
import { plural } from './numbers.ts';
import { Overlay } from './overlay.tsx';
import { PairedTable } from './paired-table.tsx';
import { RunTable } from './run-table.tsx';
import type { RunView } from './run-view.ts';
import { SideBySide } from './side-by-side.tsx';
import { dispatch, useLab } from './store.ts';
import { compare as say } from './strings.ts';
import './compare.css';

export function Compare() {
  const { picked, views } = useLab((state) => state.comparing);
  const runs = useMemo(() => comparedRuns({ picked, views }), [picked, views]);
  return (
    <section className="compare-screen" aria-label={say.title}>
      <div className="compare-head">
        <h2>{say.title}</h2>
        <span className="aside">
          {runs.length === 0 ? say.chooseSome : say.chosen(plural(runs.length, 'run'))}
        </span>
        <button
          type="button"
          className="button bare iconic small"
          aria-label={say.close}
          onClick={() => dispatch({ type: 'compare_open', on: false })}
        >
          <Icon name="close" />
        </button>
      </div>
      <RunTable />
      {runs.length > 0 && (
        <>
          <Overlay runs={runs} />
          <FinalValues runs={runs} />
        </>
      )}
      {runs.length > 1 && (
        <>
          <PairedTable runs={runs} />
          <Differences runs={runs} />
          <SideBySide runs={runs} />
        </>
      )}
    </section>
  );
}

/** Only the settings in which the chosen runs differ. */
function Differences({ runs }: { runs: readonly RunView[] }) {
  const rows = differences(runs);
  return (
    <section className="compare-part" aria-labelledby="differences-title">
      <h3 id="differences-title">{say.differences}</h3>
      {rows.length === 0 ? (
        <p className="aside">{say.noDifference}</p>
      ) : (
        <div className="wide-table">
          <table>
            <thead>
              <tr>
                <th scope="col">{say.setting}</th>
                {runs.map(({ started }, index) => (
                  <th key={index} scope="col">
                    {index + 1}: {started.manifest.settings.method}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.label}>
                  <th scope="row" {...(row.help && { 'data-tip': row.help })}>
                    {row.label}
                  </th>
                  {row.values.map((value, index) => (
                    <td key={index}>{value}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
