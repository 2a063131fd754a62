/** The adapters kept in this browser: open one from a file, look into it, compare several. */

import { useEffect, useState } from 'react';
import type { ShelvedAdapter } from '../records.ts';
import { AdapterCompare } from './adapter-shelf-compare.tsx';
import { deleteAdapter, readShelf, takeAdapters, useShelf } from './adapter-shelf-state.ts';
import { AdapterWindow } from './adapter-shelf-window.tsx';
import { DeleteButton } from './delete-button.tsx';
import { FileButton } from './file-button.tsx';
import { Icon } from './icons.tsx';
import { plural } from './numbers.ts';
import { inform } from './report.ts';
import { onlyReads } from './state.ts';
import { useLab } from './store.ts';
import { adapterShelf as say } from './strings.ts';
import './adapter-shelf.css';

export function AdapterShelf() {
  const adapters = useShelf((state) => state.adapters);
  const busy = useShelf((state) => state.busy);
  const model = useLab((state) => state.model);
  const readsOnly = useLab(onlyReads);
  const [shown, setShown] = useState<string | null>(null);
  const [comparing, setComparing] = useState(false);
  useEffect(() => void readShelf(), []);
  const open = adapters?.find(({ id }) => id === shown);
  return (
    <section className="panel" aria-labelledby="adapters-title">
      <div className="panel-head">
        <h2 id="adapters-title">{say.adaptersBrowser}</h2>
        <FileButton
          label={say.adapter}
          accept=".zip,.gguf,.json,.safetensors,.md,.bin"
          multiple
          disabled={!model || busy !== null || readsOnly}
          tip={model ? say.openHelp : say.needsItsModel}
          onFiles={(files) => void openAll(files)}
        >
          <Icon name="open" />
          {say.open}
        </FileButton>
      </div>
      <button
        type="button"
        className="button small shelf-compare"
        disabled={!model || !adapters?.length}
        data-tip={say.compareHelp}
        onClick={() => setComparing(true)}
      >
        <Icon name="compare" />
        {say.comparePrompt}
      </button>
      <p className="aside" role="status">
        {busy}
      </p>
      {adapters?.length === 0 && <p className="aside">{say.none}</p>}
      <ul className="shelf">
        {adapters?.map((adapter) => (
          <Entry
            key={adapter.id}
            adapter={adapter}
            other={model !== null && adapter.modelSha256 !== model.sha256}
            onOpen={() => setShown(adapter.id)}
          />
        ))}
      </ul>
      {open && <AdapterWindow adapter={open} onClose={() => setShown(null)} />}
      {comparing && <AdapterCompare onClose={() => setComparing(false)} />}
    </section>
  );
}

/** What is chosen here is an adapter, or nothing of use. */
async function openAll(files: readonly File[]): Promise<void> {
  const rest = await takeAdapters(files);
  const [first] = rest;
  if (first) inform(say.notOpened(first.name), say.notAnAdapter);
}

function Entry({
  adapter,
  other,
  onOpen,
}: {
  adapter: ShelvedAdapter;
  other: boolean;
  onOpen: () => void;
}) {
  const readsOnly = useLab(onlyReads);
  return (
    <li className="shelf-entry">
      <button type="button" className="shelf-open" onClick={onOpen}>
        <span className="shelf-name">{adapter.name}</span>
        {adapter.note && <span className="shelf-note">{adapter.note}</span>}
        <span className="shelf-facts">
          {say.facts(
            adapter.ranks.join(', '),
            plural(adapter.modules, 'module'),
            adapter.norm.toPrecision(3),
          )}
        </span>
        <span className="shelf-facts">
          {adapter.modelName}
          {other && say.ofAnotherModel}
        </span>
      </button>
      <DeleteButton
        label={say.deleteAdapter(adapter.name)}
        disabled={readsOnly}
        onDelete={() => void deleteAdapter(adapter.id)}
      />
    </li>
  );
}
