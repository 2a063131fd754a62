/** The tokens of one boundary, coloured by what they counted or cost; one token is explained in full. */

import { type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from 'react';
import type { Boundary } from '../records.ts';
import { Dialog } from './dialog.tsx';
import { EnlargeButton } from './enlarge-button.tsx';
import { Icon, Mark } from './icons.tsx';
import { valueText } from './numbers.ts';
import type { PinnedToken } from './reading.ts';
import { boundaryAt, outcomeWording, type RunView } from './run-view.ts';
import { SaveButtons } from './save-buttons.tsx';
import { Segments } from './segments.tsx';
import type { Quantity, TokenView } from './state.ts';
import { dispatch, useLab } from './store.ts';
import type { TermName } from './strings.ts';
import { heatmap as say } from './strings.ts';
import { useDark } from './theme.ts';
import { Term } from './tip.tsx';
import { TokenDetail } from './token-detail.tsx';
import { tokensCsv, tokensSvg } from './token-figure.ts';
import { TokenMatrix } from './token-matrix.tsx';
import { TokenTable } from './token-table.tsx';
import {
  type Paint,
  paint,
  quantityWords,
  type Scale,
  scaleOf,
  tokenText,
  tokenValue,
  visibleText,
} from './tokens.ts';
import './heatmap.css';

const quantities: readonly {
  readonly quantity: Quantity;
  readonly label: string;
  readonly term: TermName;
}[] = [
  { quantity: 'weight', label: say.weight, term: 'weight' },
  { quantity: 'ce_before', label: say.ceBefore, term: 'ce' },
  { quantity: 'ce_after', label: say.ceAfter, term: 'ce' },
  { quantity: 'ce_change', label: say.change, term: 'change' },
  { quantity: 'kl', label: say.kl, term: 'kl' },
  { quantity: 'entropy', label: say.entropy, term: 'entropy' },
];

export function Heatmap({ run }: { run: RunView }) {
  const quantity = useLab((state) => state.quantity);
  const scaleMode = useLab((state) => state.scale);
  const view = useLab((state) => state.tokenView);
  const boundary = useLab((state) => boundaryAt(run, state.selected, state.reading.boundary));
  const scale = useMemo(
    () => scaleOf(scaleMode === 'run' ? run.boundaries : boundary ? [boundary] : [], quantity),
    [run.boundaries, boundary, scaleMode, quantity],
  );
  return (
    <section className="heatmap" aria-labelledby="heatmap-title">
      <div className="heatmap-head">
        <h3 id="heatmap-title">
          <Term name="weight">{say.title}</Term>
        </h3>
        <ViewSwitch view={view} />
        <SaveTokens run={run} quantity={quantity} />
        <BoundaryPicker run={run} boundary={boundary} />
        <EnlargeButton panel="lower" />
      </div>
      {view === 'pinned' ? (
        <TokenTable run={run} />
      ) : boundary?.tokens && view === 'matrix' ? (
        <TokenMatrix run={run} boundary={boundary} quantity={quantity} scale={scale} />
      ) : boundary?.tokens ? (
        <Tokens run={run} boundary={boundary} quantity={quantity} scale={scale} />
      ) : (
        <p className="heatmap-empty">
          {run.boundaries.length === 0
            ? say.noBoundaryYet(run.started.manifest.settings.update_interval_k)
            : say.noTokensRecorded}
        </p>
      )}
      <div className="heatmap-foot">
        <Segments
          legend={say.quantity}
          options={quantities.map((one) => ({ value: one.quantity, label: one.label }))}
          value={quantity}
          onChange={(one) => dispatch({ type: 'quantity', quantity: one })}
        />
        <Legend scale={scale} quantity={quantity} />
        {quantity !== 'weight' && (
          <label className="check" data-tip={say.oneScaleHelp}>
            <input
              type="checkbox"
              checked={scaleMode === 'run'}
              onChange={(event) =>
                dispatch({ type: 'scale', scale: event.target.checked ? 'run' : 'boundary' })
              }
            />
            {say.oneScale}
          </label>
        )}
      </div>
    </section>
  );
}

/** One boundary as text, or all of them as rows of cells. */
function ViewSwitch({ view }: { view: TokenView }) {
  const kept = useLab((state) => state.reading.pinned.length);
  return (
    <Segments<TokenView>
      legend={say.view}
      tip={say.viewHelp}
      options={[
        { value: 'text', label: say.text },
        { value: 'matrix', label: say.all },
        { value: 'pinned', label: kept > 0 ? say.kept(kept) : say.keptNone },
      ]}
      value={view}
      onChange={(one) => dispatch({ type: 'token_view', view: one })}
    />
  );
}

/** Pictures and numbers of all boundaries. */
function SaveTokens({ run, quantity }: { run: RunView; quantity: Quantity }) {
  const [open, setOpen] = useState(false);
  const scale = scaleOf(run.boundaries, quantity);
  const name = `tokens-${quantity.replace('_', '-')}`;
  return (
    <>
      <button
        type="button"
        className="button bare iconic small"
        aria-label={say.save}
        data-tip={say.saveHelp}
        disabled={run.boundaries.every((one) => !one.tokens)}
        onClick={() => setOpen(true)}
      >
        <Icon name="save" />
      </button>
      {open && (
        <Dialog title={say.save} onClose={() => setOpen(false)}>
          <p>{say.saveDetails(quantityWords[quantity].title)}</p>
          <SaveButtons
            name={name}
            svg={() => tokensSvg(run, quantity, scale)}
            table="tokens"
            csv={() => tokensCsv(run)}
          />
        </Dialog>
      )}
    </>
  );
}

/** Which boundary is on screen, and the ones before and after it that have tokens. */
function BoundaryPicker({ run, boundary }: { run: RunView; boundary: Boundary | null }) {
  const withTokens = run.boundaries.filter((one) => one.tokens);
  const at = boundary ? withTokens.indexOf(boundary) : -1;
  const before = withTokens[at - 1];
  const after = withTokens[at + 1];
  const wording = boundary && outcomeWording(boundary.outcome, boundary.restored);
  return (
    <div className="boundary-picker">
      {boundary && wording && (
        <span className="boundary-name" data-tip={wording.label}>
          <span>
            <Mark tone={wording.tone} />
            {say.step(boundary.t)}
          </span>
          <span>{wording.label.charAt(0).toLowerCase() + wording.label.slice(1)}</span>
        </span>
      )}
      <button
        type="button"
        className="button bare iconic small"
        aria-label={say.boundaryBefore}
        disabled={!before}
        onClick={() => before && dispatch({ type: 'step_selected', t: before.t, seq: before.seq })}
      >
        <Icon name="left" />
      </button>
      <span className="boundary-count">
        {at + 1} / {withTokens.length}
      </span>
      <button
        type="button"
        className="button bare iconic small"
        aria-label={say.boundaryAfter}
        disabled={!after}
        onClick={() => after && dispatch({ type: 'step_selected', t: after.t, seq: after.seq })}
      >
        <Icon name="right" />
      </button>
    </div>
  );
}

interface TokensProps {
  readonly run: RunView;
  readonly boundary: Boundary;
  readonly quantity: Quantity;
  readonly scale: Scale;
}

function Tokens({ run, boundary, quantity, scale }: TokensProps) {
  const tokens = boundary.tokens;
  const count = tokens?.ids.length ?? 0;
  const [hovered, setHovered] = useState<number | null>(null);
  const { token, pinned } = useLab((state) => state.reading);
  const chosen = token !== null && token < count ? token : firstTrained(boundary);
  const choose = (j: number) => dispatch({ type: 'token_chosen', j });
  const field = useRef<HTMLDivElement>(null);
  const at = hovered !== null && hovered < count ? hovered : chosen;
  const unmeasured = tokens?.ids.every((_, j) => tokenValue(tokens, j, quantity) === null) ?? false;
  const pin = (j: number) => dispatch({ type: 'token_pinned', pin: { seq: boundary.seq, j } });
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      pin(chosen);
      return;
    }
    const to =
      event.key === 'ArrowRight'
        ? chosen + 1
        : event.key === 'ArrowLeft'
          ? chosen - 1
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? count - 1
              : null;
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    setHovered(null);
    choose(Math.min(Math.max(0, to), count - 1));
  };
  useEffect(() => {
    showWithin(field.current, field.current?.querySelector(`[data-token="${chosen}"]`) ?? null);
  }, [chosen]);
  if (!tokens) return null;
  return (
    <>
      <div
        ref={field}
        className="tokens"
        role="listbox"
        aria-label={say.tokens(boundary.t)}
        aria-activedescendant={`token-${chosen}`}
        tabIndex={0}
        onKeyDown={move}
        onPointerLeave={() => setHovered(null)}
        onPointerOver={(event) => {
          const index = tokenIndex(event.target);
          if (index !== null) setHovered(index);
        }}
        onClick={(event) => {
          const index = tokenIndex(event.target);
          if (index === null) return;
          choose(index);
          pin(index);
        }}
      >
        <Spans
          boundary={boundary}
          quantity={quantity}
          scale={scale}
          chosen={chosen}
          pinned={pinned}
        />
      </div>
      {unmeasured && <p className="heatmap-note">{unmeasuredText(quantity)}</p>}
      <TokenDetail run={run} boundary={boundary} j={at} />
    </>
  );
}

/** Scrolls the box alone: on a narrow page the whole page would jump to the tokens. */
function showWithin(box: Element | null, item: Element | null): void {
  if (!box || !item) return;
  const [outer, inner] = [box.getBoundingClientRect(), item.getBoundingClientRect()];
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

/** Why a boundary has no value of this quantity. */
function unmeasuredText(quantity: Quantity): string {
  switch (quantity) {
    case 'weight':
      return say.noWeights;
    case 'ce_before':
      return say.noCeBefore;
    case 'ce_after':
    case 'ce_change':
      return say.noCeAfter;
    case 'kl':
    case 'entropy':
      return say.noKl;
    default:
      return quantity satisfies never;
  }
}

function firstTrained(boundary: Boundary): number {
  return Math.max(0, boundary.tokens?.weights.findIndex((weight) => weight > 0) ?? 0);
}

function tokenIndex(target: EventTarget): number | null {
  if (!(target instanceof HTMLElement)) return null;
  const index = Number(target.dataset.token);
  return target.dataset.token === undefined || !Number.isInteger(index) ? null : index;
}

const Spans = memo(function Spans({
  boundary,
  quantity,
  scale,
  chosen,
  pinned,
}: Omit<TokensProps, 'run'> & { chosen: number; pinned: readonly PinnedToken[] }) {
  const dark = useDark();
  const { tokens } = boundary;
  const paints = useMemo(
    () =>
      tokens?.ids.map((_, j) => {
        const value = tokenValue(tokens, j, quantity);
        return value === null ? null : paint(value, scale, quantity, dark);
      }) ?? [],
    [tokens, quantity, scale, dark],
  );
  const kept = new Set(pinned.filter(({ seq }) => seq === boundary.seq).map(({ j }) => j));
  return tokens?.pieces.map((piece, j) => (
    <Token
      key={j}
      j={j}
      piece={piece}
      colours={paints[j] ?? null}
      chosen={j === chosen}
      kept={kept.has(j)}
    />
  ));
});

/** Draws itself anew only when something about it has changed: there may be thousands. */
const Token = memo(function Token({
  j,
  piece,
  colours,
  chosen,
  kept,
}: {
  j: number;
  piece: string;
  /** null where the quantity was not measured. */
  colours: Paint | null;
  chosen: boolean;
  kept: boolean;
}) {
  const breaks = piece.endsWith('\n');
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, its options are active descendants
    <span
      id={`token-${j}`}
      role="option"
      aria-selected={chosen}
      aria-label={piece.trim() === '' ? visibleText(piece) : undefined}
      data-token={j}
      className={colours ? 'token' : 'token unmeasured'}
      data-kept={kept || undefined}
      style={colours ? { background: colours.background, color: colours.ink } : undefined}
    >
      {breaks ? `${tokenText(piece.slice(0, -1))}⏎\n` : piece === '' ? '∅' : tokenText(piece)}
    </span>
  );
});

function Legend({ scale, quantity }: { scale: Scale; quantity: Quantity }) {
  const dark = useDark();
  const stops = Array.from({ length: 13 }, (_, index) => {
    const value = scale.low + ((scale.high - scale.low) * index) / 12;
    return paint(value, scale, quantity, dark).background;
  });
  const words = quantityWords[quantity];
  return (
    <p className="legend">
      <span>
        {valueText(scale.low)} {words.low}
      </span>
      <span
        className="legend-bar"
        aria-hidden="true"
        style={{ background: `linear-gradient(to right, ${stops.join(', ')})` }}
      />
      <span>
        {words.high} {valueText(scale.high)}
        {quantity !== 'weight' && say.nats}
      </span>
    </p>
  );
}
