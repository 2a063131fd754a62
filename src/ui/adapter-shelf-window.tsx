/** One adapter of the shelf: its name and note, its modules, and what can be made of it. */

import { type ReactNode, useEffect, useState } from 'react';
import type { ShelvedAdapter } from '../records.ts';
import {
  deriveAdapter,
  type Merged,
  type ModuleInfos,
  mergeIntoModel,
  renameAdapter,
  saveAdapterFile,
  useShelf,
} from './adapter-shelf-state.ts';
import { Strength } from './adapter-shelf-strength.tsx';
import { Dialog } from './dialog.tsx';
import { engine } from './engine.ts';
import { Icon } from './icons.tsx';
import { wholeText } from './numbers.ts';
import { attempt } from './report.ts';
import { useLab } from './store.ts';
import { adapterShelfWindow as say } from './strings.ts';

export function AdapterWindow({
  adapter,
  onClose,
}: {
  adapter: ShelvedAdapter;
  onClose: () => void;
}) {
  const [strength, setStrength] = useState(1);
  const busy = useShelf((state) => state.busy);
  const model = useLab((state) => state.model);
  return (
    <Dialog title={adapter.name} onClose={onClose} wide>
      <fieldset className="shelf-window" disabled={busy !== null}>
        <Names key={adapter.name + adapter.note} adapter={adapter} />
        <p>
          {say.facts(
            adapter.modules,
            adapter.targets.join(', '),
            adapter.ranks.join(', '),
            wholeText(adapter.parameters),
            adapter.norm.toPrecision(4),
            adapter.modelName,
          )}
        </p>
        <fieldset disabled={!model}>
          <Group title={say.takeHome} why={model ? null : say.needsItsModel}>
            <Strength of={null} value={strength} onChange={setStrength} />
            <Saving adapter={adapter} strength={strength} />
            <Merging adapter={adapter} strength={strength} />
          </Group>
        </fieldset>
        <Group title={say.makeAnother} why={null}>
          <Pruning adapter={adapter} />
          <Combining adapter={adapter} />
        </Group>
        <Modules id={adapter.id} />
      </fieldset>
      <p className="aside" role="status">
        {busy}
      </p>
    </Dialog>
  );
}

function Group({
  title,
  why,
  children,
}: {
  title: string;
  why: string | null;
  children: ReactNode;
}) {
  return (
    <section className="shelf-group">
      <h3>{title}</h3>
      {why && <p className="aside">{why}</p>}
      {children}
    </section>
  );
}

function Names({ adapter }: { adapter: ShelvedAdapter }) {
  const [name, setName] = useState(adapter.name);
  const [note, setNote] = useState(adapter.note);
  const changed = name !== adapter.name || note !== adapter.note;
  return (
    <form
      className="shelf-names"
      onSubmit={(event) => {
        event.preventDefault();
        void renameAdapter(adapter.id, name, note);
      }}
    >
      <label>
        {say.name}
        <input value={name} required onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        {say.note}
        <input value={note} onChange={(event) => setNote(event.target.value)} />
      </label>
      <button type="submit" className="button" disabled={!changed}>
        {say.keep}
      </button>
    </form>
  );
}

const dtypes = ['F32', 'F16', 'BF16'] as const;

function Saving({ adapter, strength }: { adapter: ShelvedAdapter; strength: number }) {
  const [dtype, setDtype] = useState<(typeof dtypes)[number]>('F32');
  const save = (form: 'peft' | 'gguf') =>
    void saveAdapterFile({ id: adapter.id, form, dtype, strength });
  return (
    <div className="shelf-row">
      <label>
        {say.numberFormat}
        <select
          value={dtype}
          onChange={(event) => {
            const chosen = dtypes.find((one) => one === event.target.value);
            if (chosen) setDtype(chosen);
          }}
        >
          {dtypes.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="button"
        data-tip={say.peftZipHelp}
        onClick={() => save('peft')}
      >
        <Icon name="save" />
        {say.peftZip}
      </button>
      <button
        type="button"
        className="button"
        data-tip={say.ggufLoraHelp}
        onClick={() => save('gguf')}
      >
        <Icon name="save" />
        {say.ggufLora}
      </button>
    </div>
  );
}

function Merging({ adapter, strength }: { adapter: ShelvedAdapter; strength: number }) {
  const [merged, setMerged] = useState<Merged | null>(null);
  const merge = async (type: 'F16' | 'Q8_0') => {
    setMerged(null);
    setMerged(await mergeIntoModel({ id: adapter.id, strength, type }));
  };
  return (
    <>
      <div className="shelf-row">
        <span>{say.merge}</span>
        {(['F16', 'Q8_0'] as const).map((type) => (
          <button key={type} type="button" className="button" onClick={() => void merge(type)}>
            <Icon name="save" />
            {say.gguf(type)}
          </button>
        ))}
      </div>
      {merged && <MergeCost merged={merged} />}
    </>
  );
}

/** What the number format of a merged model lost of what the adapter changed. */
function MergeCost({ merged: { name, report } }: { merged: Merged }) {
  const lost = report.errorShare;
  return (
    <p className={lost > 0.5 ? 'warn-text' : ''} role="status">
      {say.mergeCost(
        name,
        report.change.toPrecision(3),
        report.type,
        report.error.toPrecision(3),
        Number((100 * lost).toPrecision(2)),
      )}
      {lost > 0.5 && say.mergeLosesMuch}
      {report.converted.tensors > 0 &&
        say.mergeOtherMatrices(report.converted.tensors, report.converted.error.toPrecision(3))}
    </p>
  );
}

function Pruning({ adapter }: { adapter: ShelvedAdapter }) {
  const [keep, setKeep] = useState(50);
  const kept = Math.max(1, Math.round((keep / 100) * adapter.modules));
  return (
    <div className="shelf-row">
      <label>
        {say.keepLargest}
        <input
          type="range"
          min={5}
          max={100}
          step={5}
          value={keep}
          aria-valuetext={say.modules(kept, adapter.modules)}
          onChange={(event) => setKeep(Number(event.target.value))}
        />
      </label>
      <span className="mono">{say.modules(kept, adapter.modules)}</span>
      <button
        type="button"
        className="button"
        data-tip={say.pruneHelp}
        onClick={() =>
          void deriveAdapter(say.largest(adapter.name, kept), {
            kind: 'prune',
            id: adapter.id,
            keep: keep / 100,
          })
        }
      >
        {say.prune}
      </button>
    </div>
  );
}

function Combining({ adapter }: { adapter: ShelvedAdapter }) {
  const adapters = useShelf((state) => state.adapters) ?? [];
  const others = adapters.filter(({ id }) => id !== adapter.id);
  const [chosen, setChosen] = useState('');
  const [t, setT] = useState(0.5);
  const other = others.find(({ id }) => id === chosen) ?? others[0];
  if (!other) return <p className="aside">{say.withSecond}</p>;
  const rest = Number((1 - t).toFixed(6)); // 1 - 0.9 is 0.09999999999999998
  const combine = (name: string, one: number, two: number) =>
    void deriveAdapter(name, {
      kind: 'combine',
      summands: [
        { id: adapter.id, weight: one },
        { id: other.id, weight: two },
      ],
    });
  return (
    <div className="shelf-row">
      <label>
        {say.with}
        <select value={other.id} onChange={(event) => setChosen(event.target.value)}>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="button"
        data-tip={say.differenceHelp}
        onClick={() => combine(`${adapter.name} − ${other.name}`, 1, -1)}
      >
        {say.difference}
      </button>
      <label>
        t
        <input
          type="number"
          min={0}
          max={1}
          step={0.05}
          value={t}
          onChange={(event) => setT(Number(event.target.value))}
        />
      </label>
      <button
        type="button"
        className="button"
        data-tip={say.mixHelp}
        onClick={() => combine(`${adapter.name} ${rest} + ${other.name} ${t}`, rest, t)}
      >
        {say.mix}
      </button>
    </div>
  );
}

function Modules({ id }: { id: string }) {
  const [modules, setModules] = useState<ModuleInfos>([]);
  useEffect(() => {
    void attempt(say.modulesFailed, async () => {
      setModules(await engine().call('adapterModules', { id }));
    });
  }, [id]);
  const largest = Math.max(...modules.map(({ norm }) => norm), Number.MIN_VALUE);
  return (
    <details className="shelf-modules">
      <summary>{say.modulesNorm}</summary>
      <table>
        <thead>
          <tr>
            <th>{say.module}</th>
            <th className="number">{say.rank}</th>
            <th className="number">{say.alpha}</th>
            <th className="number">{say.norm}</th>
            <th aria-label={say.shareLargest} />
          </tr>
        </thead>
        <tbody>
          {modules
            .toSorted((a, b) => b.norm - a.norm)
            .map(({ name, rank, alpha, norm }) => (
              <tr key={name}>
                <td className="mono">{name.replace('model.layers.', '')}</td>
                <td className="number">{rank}</td>
                <td className="number">{Number(alpha.toPrecision(6))}</td>
                <td className="number">{norm.toPrecision(3)}</td>
                <td>
                  <meter min={0} max={largest} value={norm} aria-label={say.barOfNorm(name)} />
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </details>
  );
}
