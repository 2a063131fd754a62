/** Where another model can come from: the bundled one, a file, an address, what is kept here. */

import { useRef, useState } from 'react';
import type { StoredModel } from '../records.ts';
import { openFiles } from './actions.ts';
import { Icon } from './icons.tsx';
import { bundledModel, deleteAllModels, deleteModel, loadModel } from './load.ts';
import { ModelServer } from './model-server.tsx';
import { bytesText, plural } from './numbers.ts';
import { isRunning } from './state.ts';
import { useLab } from './store.ts';

export function ModelSources() {
  const [url, setUrl] = useState('');
  const picker = useRef<HTMLInputElement>(null);
  const stored = useLab((state) => state.storedModels);
  const engine = useLab((state) => state.engine);
  const loading = useLab((state) => state.loading !== null);
  const running = useLab(isRunning);
  const reading = useLab((state) => state.notebook.writer === 'other_tab');
  const locked = engine !== 'ready' || loading || running || reading;
  return (
    <div className="sources">
      <div className="source-buttons">
        <button
          type="button"
          className="button"
          disabled={locked}
          data-tip="A small llama that comes with the page. It was trained for the household world and needs no download."
          onClick={() => void loadModel({ kind: 'bundled', name: bundledModel })}
        >
          Bundled policy
        </button>
        <button
          type="button"
          className="button"
          disabled={locked}
          data-tip="A model in the GGUF format (llama, Qwen2, Qwen3, Gemma 3), from this computer; of a model in several files choose all. It is read in slices and not copied; dropping it on the page works too."
          onClick={() => picker.current?.click()}
        >
          <Icon name="open" />
          GGUF file…
        </button>
        <input
          ref={picker}
          type="file"
          accept=".gguf"
          multiple
          hidden
          aria-label="A GGUF file"
          onChange={(event) => {
            const files = [...(event.target.files ?? [])];
            event.target.value = '';
            void openFiles(files);
          }}
        />
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
          aria-label="Address of a GGUF file"
          placeholder="https://… .gguf"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <button type="submit" className="button" disabled={locked || url.trim() === ''}>
          Load
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
      <h3>Kept in this browser</h3>
      <ul aria-label="Models kept in this browser">
        {stored.map((one) => (
          <StoredRow key={one.key} model={one} locked={locked} />
        ))}
      </ul>
      {asking ? (
        <p className="stored-foot">
          <button
            type="button"
            className="button small"
            onClick={() => {
              setAsking(false);
              void deleteAllModels();
            }}
          >
            Delete {plural(stored.length, 'model')}
          </button>
          <button type="button" className="button bare small" onClick={() => setAsking(false)}>
            Keep
          </button>
        </p>
      ) : (
        <p className="stored-foot">
          <span>{bytesText(bytes)} in all</span>
          <button
            type="button"
            className="button bare small"
            disabled={locked}
            onClick={() => setAsking(true)}
          >
            Delete all…
          </button>
        </p>
      )}
    </div>
  );
}

function StoredRow({ model, locked }: { model: StoredModel; locked: boolean }) {
  const { key, name, bytes, total, complete, lastUsed } = model;
  const load = () => void loadModel(complete ? { kind: 'cached', key } : { kind: 'url', url: key });
  return (
    <li>
      <button
        type="button"
        className="link"
        disabled={locked}
        data-tip={`${key}\n${complete ? 'Loads it from this browser, without a download.' : 'Goes on with the download.'}`}
        onClick={load}
      >
        {name}
      </button>
      <span className="stored-facts">
        {complete
          ? `${bytesText(bytes)} · ${lastUsed.slice(0, 10)}`
          : `${bytesText(bytes)} of ${total > 0 ? bytesText(total) : '?'}`}
      </span>
      {!complete && (
        <button type="button" className="button small" disabled={locked} onClick={load}>
          Resume
        </button>
      )}
      <button
        type="button"
        className="button bare iconic small"
        aria-label={`Delete ${name} from this browser`}
        data-tip={`Delete from this browser. Last used ${lastUsed.slice(0, 10)}.`}
        onClick={() => void deleteModel(key)}
      >
        <Icon name="trash" />
      </button>
    </li>
  );
}
