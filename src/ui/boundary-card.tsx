/** One boundary in the transcript: why there was an update, or none, in words and numbers. */

import { memo, type ReactNode, useState } from 'react';
import type { Settings } from '../config.ts';
import type { Boundary } from '../records.ts';
import { copyAddress } from './address.ts';
import { ForkDialog } from './fork-dialog.tsx';
import { Found } from './found.tsx';
import { Mark } from './icons.tsx';
import { valueText } from './numbers.ts';
import { RecordDialog } from './record-dialog.tsx';
import { outcomeWording } from './run-view.ts';
import { shownRun } from './state.ts';
import { dispatch, useLab } from './store.ts';
import type { TermName } from './strings.ts';
import { boundaryCard as say } from './strings.ts';
import { Term } from './tip.tsx';
import type { PlaceInList } from './transcript-step.tsx';

interface BoundaryCardProps {
  readonly boundary: Boundary;
  /** The frozen settings of the run: what each number was compared with. */
  readonly settings: Settings;
  /** What is searched in the transcript; empty for nothing. */
  readonly find: string;
  readonly place: PlaceInList;
}

export const BoundaryCard = memo(function BoundaryCard({
  boundary,
  settings,
  find,
  place,
}: BoundaryCardProps) {
  const [open, setOpen] = useState<'record' | 'fork' | null>(null);
  const [copied, setCopied] = useState(false);
  const wording = outcomeWording(boundary.outcome, boundary.restored);
  const first = boundary.losses[0];
  const last = boundary.losses.at(-1);
  const facts: readonly (readonly [TermName, string, string | null])[] = [
    ['ratio', 'r_k', against(boundary.ratio, say.most, settings.repetition_ratio_limit)],
    ['novelty', 'novelty', against(boundary.novelty, say.least, settings.novelty_threshold)],
    ['mean_weight', say.meanWeight, known(boundary.meanWeight)],
    [
      'loss',
      'loss',
      first === undefined
        ? null
        : boundary.losses.length > 1
          ? `${valueText(first)} → ${valueText(last)}`
          : valueText(first),
    ],
    ['kl', say.kl, klText(boundary, settings)],
    ['kl_context', say.klContext, known(boundary.klInContext)],
    ['grad_norm', 'gradient', gradientText(boundary.gradNorms)],
    ['delta', '‖ΔW‖', known(boundary.deltaNorm)],
    ['update', 'updates', `${boundary.updates} of ${settings.max_updates_per_episode}`],
  ];
  const measured = facts.filter(([, , value]) => value !== null);
  return (
    <li className={`card ${wording.tone}`} {...place}>
      <div className="card-head">
        <Mark tone={wording.tone} />
        <strong data-tip={wording.help}>{wording.label}</strong>
        {boundary.nearestStep !== null && (boundary.ratio ?? 0) > 0 && (
          <span className="aside">
            {say.nearest}{' '}
            <button
              type="button"
              className="link"
              onClick={() => dispatch({ type: 'step_selected', t: boundary.nearestStep })}
            >
              {say.step(boundary.nearestStep)}
            </button>
          </span>
        )}
        <span className="card-when">
          <Term name="boundary">{say.boundary}</Term> {say.afterStep(boundary.t)}
          {boundary.trigger === 'manual' && say.manual}
        </span>
      </div>
      {boundary.cause && boundary.trigger !== 'periodic' && boundary.trigger !== 'manual' && (
        <p className="aside">{boundary.cause}</p>
      )}
      <p>
        <Found text={boundary.why} find={find} />
      </p>
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
          <Act name={say.record} onClick={() => setOpen('record')}>
            {say.json}
          </Act>
          {boundary.tokens && (
            <Act
              name={say.tokens}
              onClick={() => dispatch({ type: 'step_selected', t: boundary.t, seq: boundary.seq })}
            >
              {say.showTokens}
            </Act>
          )}
          <Act
            name={say.address}
            tip={say.linkHelp}
            onClick={() => {
              const run = shownRun(useLab.getState());
              if (run) void copyAddress(run, boundary.t, boundary.seq).then(setCopied);
            }}
          >
            {copied ? say.copied : say.link}
          </Act>
          <Act name={say.goBack} tip={say.goBackHelp} onClick={() => setOpen('fork')}>
            {say.goBack}
          </Act>
        </dl>
      )}
      {open === 'record' && (
        <RecordDialog
          title={say.recordTitle(boundary.t)}
          records={[boundary]}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'fork' && <GoBack t={boundary.t} onClose={() => setOpen(null)} />}
    </li>
  );
});

/** What can be done with an update, in its row of numbers; `name` is what a screen reader calls it there. */
function Act({
  name,
  tip,
  onClick,
  children,
}: {
  name: string;
  tip?: string;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <div>
      <dt className="unseen">{name}</dt>
      <dd>
        <button type="button" className="link" data-tip={tip} onClick={onClick}>
          {children}
        </button>
      </dd>
    </div>
  );
}

/** Reads the run only where it is asked for: a card is not drawn again at each step of a run. */
function GoBack({ t, onClose }: { t: number; onClose: () => void }) {
  const run = useLab(shownRun);
  return run && <ForkDialog run={run} t={t} onClose={onClose} />;
}

function known(value: number | null): string | null {
  return value === null ? null : valueText(value);
}

/** A number with what it was compared with, so that the outcome can be checked by eye. */
function against(value: number | null, relation: string, limit: number): string | null {
  return value === null ? null : `${valueText(value)} (${relation} ${valueText(limit)})`;
}

/** An update whose KL was not measured says so: the gate was blind there. */
function klText({ kl, losses }: Boundary, settings: Settings): string | null {
  if (kl !== null) return `${against(kl, say.most, settings.kl_divergence_limit)} nats`;
  return losses.length > 0 ? say.klNotMeasured : null;
}

function gradientText(norms: readonly number[]): string | null {
  return norms.length === 0 ? null : norms.map((norm) => valueText(norm)).join(' → ');
}
