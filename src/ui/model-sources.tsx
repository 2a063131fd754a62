/** Where another model can come from: the bundled one, a file, an address, what is kept here. */

import { useState } from 'react';
import type { StoredModel } from '../records.ts';
import { openFiles } from './actions.ts';
import { BundledAdapter } from './bundled-adapter.tsx';
import { FileButton } from './file-button.tsx';
import { Icon } from './icons.tsx';
import { bundledModel, deleteAllModels, deleteModel, loadModel } from './load.ts';
import { ModelServer } from './model-server.tsx';
import { bytesText, plural } from './numbers.ts';
import { isRunning, onlyReads } from './state.ts';
import { useLab } from './store.ts';
import { modelSources as say } from './strings.ts';

export function ModelSources() {
  const [url, setUrl] = useState('');
  const stored = useLab((state) => state.storedModels);
  const engine = useLab((state) => state.engine);
  const loading = useLab((state) => state.loading !== null);
  const running = useLab(isRunning);
  const readsOnly = useLab(onlyReads);
  const locked = engine !== 'ready' || loading || running || readsOnly;
  return (
    <div className="sources">
      <div className="source-buttons">
        <button
          type="button"
          className="button"
          disabled={locked}
          data-tip={say.bundledHelp}
          onClick={() => void loadModel({ kind: 'bundled', name: bundledModel })}
        >
          {say.bundledPolicy}
        </button>
        <BundledAdapter locked={locked} />
        <FileButton
          className="button"
          label={say.fileName}
          accept=".gguf"
          multiple
          disabled={locked}
          tip={say.fileHelp}
          onFiles={(files) => void openFiles(files)}
        >
          <Icon name="open" />
          {say.ggufFile}
        </FileButton>
      </div>
      <form
        className="url"
        onSubmit={(event) => {
          event.preventDefault();
          void loadModel({ kind: 'url', url: url.trim() });
        }}
      >
        <input
          type="url"
          required
          aria-label={say.address}
          placeholder={say.httpsGguf}
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <button type="submit" className="button" disabled={locked || url.trim() === ''}>
          {say.load}
        </button>
      </form>
      <ModelServer locked={locked} />
      {stored.length > 0 && <Stored stored={stored} locked={locked} />}
    </div>
  );
}

/** Models kept in this browser: how large, when last used, load, go on, delete. */
function Stored({ stored, locked }: { stored: readonly StoredModel[]; locked: boolean }) {
  const [asking, setAsking] = useState(false);
  const bytes = stored.reduce((sum, one) => sum + one.bytes, 0);
  return (
    <div className="stored">
      <h3>{say.keptBrowser}</h3>
      <ul aria-label={say.kept}>
        {stored.map((one) => (
          <StoredRow key={one.key} model={one} locked={locked} />
        ))}
      </ul>
      {asking ? (
        <p className="stored-foot">
          <button
            type="button"
            className="button small"
            disabled={locked}
            onClick={() => {
              setAsking(false);
              void deleteAllModels();
            }}
          >
            {say.delete(plural(stored.length, 'model'))}
          </button>
          <button type="button" className="button bare small" onClick={() => setAsking(false)}>
            {say.keep}
          </button>
        </p>
      ) : (
        <p className="stored-foot">
          <span>{say.all(bytesText(bytes))}</span>
          <button
            type="button"
            className="button bare small"
            disabled={locked}
            onClick={() => setAsking(true)}
          >
            {say.deleteAll}
          </button>
        </p>
      )}
    </div>
  );
}

function StoredRow({ model, locked }: { model: StoredModel; locked: boolean }) {
  const { key, name, bytes, total, complete, lastUsed } = model;
  const whole = total > 0 ? bytesText(total) : '?';
  const load = () => void loadModel(complete ? { kind: 'cached', key } : { kind: 'url', url: key });
  return (
    <li>
      <button
        type="button"
        className="link"
        disabled={locked}
        data-tip={`${key}\n${complete ? say.loadKeptHelp : say.goesDownload}`}
        onClick={load}
      >
        {name}
      </button>
      <span className="stored-facts">
        {complete
          ? `${bytesText(bytes)} · ${lastUsed.slice(0, 10)}`
          : say.of(bytesText(bytes), whole)}
      </span>
      {!complete && (
        <button type="button" className="button small" disabled={locked} onClick={load}>
          {say.resume}
        </button>
      )}
      <button
        type="button"
        className="button bare iconic small"
        aria-label={say.deleteBrowser(name)}
        disabled={locked}
        data-tip={say.deleteHelp(lastUsed.slice(0, 10))}
        onClick={() => void deleteModel(key)}
      >
        <Icon name="trash" />
      </button>
    </li>
  );
}
