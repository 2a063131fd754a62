/** One prompt with the base and with adapters, side by side, each token coloured by who finds it likelier. */

import { useRef, useState } from 'react';
import type { ChatMessage, ShelvedAdapter } from '../records.ts';
import { type ComparedTexts, compareOnPrompt, useShelf } from './adapter-shelf-state.ts';
import { Strength } from './adapter-shelf-strength.tsx';
import { Dialog } from './dialog.tsx';
import { shownRun } from './state.ts';
import { useLab } from './store.ts';
import { adapterShelfCompare as say } from './strings.ts';

const noAdapters: readonly ShelvedAdapter[] = [];

export function AdapterCompare({ onClose }: { onClose: () => void }) {
  const adapters = useShelf((state) => state.adapters) ?? noAdapters;
  const busy = useShelf((state) => state.busy);
  const opening = useLab((state) => shownRun(state)?.started.messages);
  const [prompt, setPrompt] = useState(opening?.at(-1)?.content ?? '');
  const [chosen, setChosen] = useState<Readonly<Record<string, number>>>(() =>
    Object.fromEntries(adapters.slice(0, 1).map(({ id }) => [id, 1])),
  );
  const [maxTokens, setMaxTokens] = useState(32);
  const [texts, setTexts] = useState<ComparedTexts | null>(null);
  const stop = useRef<AbortController | null>(null);
  const sides = Object.entries(chosen).map(([id, strength]) => ({ id, strength }));

  const run = async () => {
    const controller = new AbortController();
    stop.current = controller;
    const before: readonly ChatMessage[] = opening?.slice(0, -1) ?? [];
    const messages: ChatMessage[] = [...before, { role: 'user', content: prompt }];
    const base = { id: null, strength: 1 };
    setTexts(await compareOnPrompt(messages, [base, ...sides], maxTokens, controller.signal));
  };
  return (
    <Dialog
      title={say.comparePrompt}
      onClose={() => {
        stop.current?.abort();
        onClose();
      }}
      wide
    >
      <form
        className="prompt-compare"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label className="prompt-compare-prompt">
          {say.prompt}
          {opening && say.afterSystemText}
          <textarea rows={4} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
        </label>
        <fieldset>
          <legend>{say.baseBeside}</legend>
          {adapters.map(({ id, name }) => (
            <div key={id} className="prompt-compare-side">
              <label>
                <input
                  type="checkbox"
                  checked={chosen[id] !== undefined}
                  onChange={(event) => {
                    const { [id]: _, ...rest } = chosen;
                    setChosen(event.target.checked ? { ...chosen, [id]: 1 } : rest);
                  }}
                />
                {name}
              </label>
              <Strength
                of={name}
                value={chosen[id] ?? 1}
                onChange={(value) => setChosen({ ...chosen, [id]: value })}
              />
            </div>
          ))}
        </fieldset>
        <div className="shelf-row">
          <label>
            {say.most}
            <input
              type="number"
              min={1}
              max={512}
              value={maxTokens}
              onChange={(event) => setMaxTokens(Math.max(1, Number(event.target.value)))}
            />
            {say.tokens}
          </label>
          <button
            type="submit"
            className="button primary"
            disabled={busy !== null || sides.length === 0}
          >
            {say.compare}
          </button>
          {busy && (
            <button type="button" className="button" onClick={() => stop.current?.abort()}>
              {say.stop}
            </button>
          )}
          <span className="aside" role="status">
            {busy}
          </span>
        </div>
      </form>
      {texts && <Texts texts={texts} />}
    </Dialog>
  );
}

function Texts({ texts }: { texts: ComparedTexts }) {
  const [at, setAt] = useState<{ text: number; token: number } | null>(null);
  const token = at ? texts[at.text]?.tokens[at.token] : undefined;
  return (
    <>
      <p className="aside">{say.coloursHelp}</p>
      <div className="prompt-compare-texts">
        {texts.map(({ label, tokens, total }, i) => {
          const beside = i === 0 ? 1 : i;
          return (
            <section key={`${i} ${label}`} aria-label={label}>
              <h3>{label}</h3>
              <p className="prompt-compare-text">
                {tokens.map(({ id, piece, logprobs }, t) => {
                  const difference = (logprobs[beside] ?? 0) - (logprobs[0] ?? 0);
                  return (
                    <button
                      key={`${t} ${id}`}
                      type="button"
                      className="prompt-compare-token"
                      style={{ background: shade(difference) }}
                      aria-label={say.tipOfToken(JSON.stringify(piece), signed(difference))}
                      data-tip={say.nameOfToken(JSON.stringify(piece), signed(difference))}
                      onClick={() => setAt({ text: i, token: t })}
                    >
                      {piece.replaceAll('\n', '⏎')}
                    </button>
                  );
                })}
              </p>
              <p className="aside">
                {say.wholeText(
                  signed((total[beside] ?? 0) - (total[0] ?? 0)),
                  texts[beside]?.label ?? '',
                  plainLogprob(total[0]),
                )}
              </p>
            </section>
          );
        })}
      </div>
      {token && (
        <table aria-label={say.tokenTable}>
          <thead>
            <tr>
              <th>{JSON.stringify(token.piece)}</th>
              <th className="number">{say.logProbability}</th>
              <th className="number">{say.lessTheBase}</th>
            </tr>
          </thead>
          <tbody>
            {texts.map(({ label }, side) => (
              <tr key={`${side} ${label}`}>
                <td>{label}</td>
                <td className="number">{plainLogprob(token.logprobs[side])}</td>
                <td className="number">
                  {signed((token.logprobs[side] ?? 0) - (token.logprobs[0] ?? 0))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function plainLogprob(value: number | undefined): string {
  return (value ?? 0).toFixed(3).replace('-', '−');
}

function signed(value: number): string {
  return `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(3)}`;
}

/** Full colour from 2 nats on: a token about seven times likelier on one side. */
function shade(difference: number): string {
  const share = Math.round(Math.min(1, Math.abs(difference) / 2) * 55);
  return `color-mix(in srgb, var(${difference >= 0 ? '--likelier' : '--unlikelier'}) ${share}%, transparent)`;
}
