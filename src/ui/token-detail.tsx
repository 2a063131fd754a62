/** One token in full: id, text, weight, the n-gram behind it and where that occurred, cross entropy. */

import type { Boundary } from '../records.ts';
import { valueText } from './numbers.ts';
import type { RunView } from './run-view.ts';
import { dispatch } from './store.ts';
import { tokenDetail as say } from './strings.ts';
import { Term } from './tip.tsx';
import { earlierSteps, ngramText, visibleText } from './tokens.ts';

/** Its room is fixed, so that nothing moves from token to token. */
export function TokenDetail({ run, boundary, j }: { run: RunView; boundary: Boundary; j: number }) {
  const tokens = boundary.tokens;
  if (!tokens) return null;
  const n = run.started.manifest.settings.ngram_n;
  const weight = tokens.weights[j] ?? 0;
  const before = tokens.ceBefore[j] ?? null;
  const after = tokens.ceAfter[j] ?? null;
  const kl = tokens.kl?.[j];
  const alternatives = tokens.alternatives?.[j] ?? [];
  const ngram = ngramText(tokens, j, n);
  const count = tokens.counts[j] ?? 0;
  const steps = earlierSteps(run, boundary, j, n);
  return (
    <div className="token-detail" aria-live="polite">
      <dl>
        <div className="wide">
          <dt>{say.token}</dt>
          <dd>
            <code className="token-text">{visibleText(tokens.pieces[j] ?? '')}</code>
            <span className="aside">
              {say.idPlace(tokens.ids[j] ?? '', j + 1, tokens.ids.length)}
            </span>
          </dd>
        </div>
        <div>
          <dt>
            <Term name="weight">{say.weight}</Term>
          </dt>
          <dd>{weight === 0 ? say.notTrained : valueText(weight)}</dd>
        </div>
        <div>
          <dt>
            <Term name="ce">{say.ce}</Term>
          </dt>
          <dd>
            {before === null
              ? say.notMeasured
              : after === null
                ? say.nats(valueText(before))
                : say.change(valueText(before), valueText(after))}
          </dd>
        </div>
        {before !== null && (
          <div>
            <dt>
              <Term name="logprob">{say.logP}</Term>
            </dt>
            <dd>
              {valueText(-before)}
              {after !== null && ` → ${valueText(-after)}`}
            </dd>
          </div>
        )}
        {typeof kl === 'number' && (
          <div>
            <dt>
              <Term name="kl" />
            </dt>
            <dd>
              {valueText(kl)}, <Term name="entropy" />{' '}
              {say.natsEntropy(valueText(tokens.entropy?.[j]))}
            </dd>
          </div>
        )}
        {alternatives.length > 0 && (
          <div className="wide">
            <dt>
              <Term name="alternatives">{say.likely}</Term>
            </dt>
            <dd>
              {alternatives.map(({ id, piece, logprob }) => (
                <span key={id} className="alternative" data-tip={say.id(id)}>
                  <code className="token-text">{visibleText(piece)}</code>
                  {valueText(logprob)}
                </span>
              ))}
            </dd>
          </div>
        )}
        <div className="wide">
          <dt>
            <Term name="ngram">{say.gram(n)}</Term>
          </dt>
          <dd>
            {ngram === null || count === 0 ? (
              say.neverBefore
            ) : (
              <>
                <code className="token-text">{visibleText(ngram)}</code>
                <span>
                  {' '}
                  {count === 1 ? say.once : say.times(count)} {say.before}
                  {steps.length > 0 && say.textStep}
                  {steps.slice(-6).map((t, index) => (
                    <span key={t}>
                      {index > 0 && ', '}
                      <button
                        type="button"
                        className="link"
                        onClick={() => dispatch({ type: 'step_selected', t })}
                      >
                        {t}
                      </button>
                    </span>
                  ))}
                </span>
              </>
            )}
          </dd>
        </div>
      </dl>
    </div>
  );
}
