/** One boundary in the transcript: why there was an update, or none, in words and numbers. */

import { memo } from 'react';
import type { Boundary } from '../records.ts';
import { Mark } from './icons.tsx';
import { valueText } from './numbers.ts';
import { outcomeWording } from './run-view.ts';
import { dispatch } from './store.ts';
import type { TermName } from './terms.ts';
import { Term } from './tip.tsx';

export const BoundaryCard = memo(function BoundaryCard({ boundary }: { boundary: Boundary }) {
  const wording = outcomeWording(boundary.outcome, boundary.restored);
  const first = boundary.losses[0];
  const last = boundary.losses.at(-1);
  const facts: readonly (readonly [TermName, string, string | null])[] = [
    ['ratio', 'r_k', known(boundary.ratio)],
    ['novelty', 'novelty', known(boundary.novelty)],
    ['mean_weight', 'mean weight', known(boundary.meanWeight)],
    [
      'loss',
      'loss',
      first === undefined
        ? null
        : boundary.losses.length > 1
          ? `${valueText(first)} → ${valueText(last)}`
          : valueText(first),
    ],
    ['kl', 'KL', boundary.kl === null ? null : `${valueText(boundary.kl)} nats`],
    ['kl_context', 'KL in context', known(boundary.klInContext)],
    ['delta', '‖ΔW‖', known(boundary.deltaNorm)],
  ];
  const measured = facts.filter(([, , value]) => value !== null);
  return (
    <li className={`card ${wording.tone}`}>
      <div className="card-head">
        <Mark tone={wording.tone} />
        <strong data-tip={wording.help}>{wording.label}</strong>
        {boundary.nearestStep !== null && (boundary.ratio ?? 0) > 0 && (
          <span className="aside">
            nearest:{' '}
            <button
              type="button"
              className="link"
              onClick={() => dispatch({ type: 'step_selected', t: boundary.nearestStep })}
            >
              step {boundary.nearestStep}
            </button>
          </span>
        )}
        <span className="card-when">
          <Term name="boundary">boundary</Term> after step {boundary.t}
          {boundary.trigger === 'manual' && ', asked by you'}
        </span>
      </div>
      {boundary.cause && boundary.trigger !== 'periodic' && boundary.trigger !== 'manual' && (
        <p className="aside">{boundary.cause}</p>
      )}
      <p>{boundary.why}</p>
      {measured.length > 0 && (
        <dl className="card-numbers">
          {measured.map(([term, label, value]) => (
            <div key={term}>
              <dt>
                <Term name={term}>{label}</Term>
              </dt>
              <dd>{value}</dd>
            </div>
          ))}
          {boundary.tokens && (
            <div>
              <dt className="unseen">tokens</dt>
              <dd>
                <button
                  type="button"
                  className="link"
                  onClick={() => dispatch({ type: 'step_selected', t: boundary.t })}
                >
                  show its tokens
                </button>
              </dd>
            </div>
          )}
        </dl>
      )}
    </li>
  );
});

function known(value: number | null): string | null {
  return value === null ? null : valueText(value);
}
