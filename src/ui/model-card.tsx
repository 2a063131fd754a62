/** The model: load the bundled one, a file or an address; what is loaded, and what memory it takes. */

import { useRef, useState } from 'react';
import type { LoadProgress, MemoryPart, ModelInfo } from '../records.ts';
import { bundledModel, cancelLoading, deleteModel, loadModel } from './actions.ts';
import { Icon } from './icons.tsx';
import { bytesText, countText, durationText } from './numbers.ts';
import { isRunning } from './state.ts';
import { useLab } from './store.ts';
import type { TermName } from './terms.ts';
import { Term } from './tip.tsx';
import './model-card.css';

export function ModelCard() {
  const model = useLab((state) => state.model);
  const loading = useLab((state) => state.loading);
  const named = useLab((state) => state.settings.policy_model);
  return (
    <section className="panel" aria-labelledby="model-title">
      <h2 id="model-title">Model</h2>
      {loading && <Loading label={loading.label} progress={loading.progress} />}
      {model ? (
        <Facts model={model} />
      ) : (
        !loading && <p className="aside">No model is loaded yet.</p>
      )}
      {model && !loading && !names(model, named) && (
        <p className="aside warn-text">
          The settings name “{named}”, which is not loaded in this tab. A run uses {model.name}.
        </p>
      )}
      {model ? (
        <details className="change">
          <summary>Another model</summary>
          <Sources />
        </details>
      ) : (
        <Sources />
      )}
    </section>
  );
}

/** The settings name a model by its bundled name, file name, address or key. */
function names(model: ModelInfo, setting: string): boolean {
  const bare = (text: string) =>
    text
      .split(/[?#]/)[0]
      ?.split('/')
      .at(-1)
      ?.toLowerCase()
      .replace(/\.gguf$/, '') ?? '';
  return (
    setting === '' ||
    setting === bundledModel ||
    bare(model.name) === bare(setting) ||
    setting.includes(model.sha256)
  );
}

const phases: Readonly<Record<LoadProgress['phase'], string>> = {
  download: 'Downloading',
  cache: 'Reading from the cache of this browser',
  read: 'Reading the file',
  upload: 'Moving weights to the device',
  warm_up: 'Warming up',
};

function Loading({ label, progress }: { label: string; progress: LoadProgress | null }) {
  const known = progress !== null && progress.total > 0;
  const left =
    known && progress.bytesPerSecond > 0
      ? durationText((progress.total - progress.bytes) / progress.bytesPerSecond)
      : '';
  return (
    <div className="loading">
      <div className="loading-head">
        <span className="loading-name">{label}</span>
        <button type="button" className="button small" onClick={() => cancelLoading()}>
          Cancel
        </button>
      </div>
      <progress
        aria-label={`Loading ${label}`}
        max={1}
        {...(known ? { value: progress.bytes / progress.total } : {})}
      />
      <p className="aside">
        {progress ? phases[progress.phase] : 'Asking'}
        {known && ` · ${bytesText(progress.bytes)} of ${bytesText(progress.total)}`}
        {progress && progress.bytesPerSecond > 0 && ` · ${bytesText(progress.bytesPerSecond)}/s`}
        {left && ` · ${left} left`}
      </p>
    </div>
  );
}

function Facts({ model }: { model: ModelInfo }) {
  return (
    <>
      <p className="model-name">
        <strong>{model.name}</strong>
        <span>
          {bytesText(model.fileBytes)} · <Term name="quantisation">{model.quantisation}</Term>
        </span>
      </p>
      <dl className="facts">
        <Fact name="parameters">{countText(model.parameters)}</Fact>
        <Fact name="layers">
          {model.layers} × {model.width}
        </Fact>
        <Fact name="heads">
          {model.heads}
          {model.kvHeads !== model.heads && ` / ${model.kvHeads} key-value`}
        </Fact>
        <Fact name="context">{model.contextLength.toLocaleString('en')} tokens</Fact>
        <Fact name="sha256">
          <code>{model.sha256.slice(0, 12)}</code>
        </Fact>
        {model.licence && (
          <div>
            <dt>licence</dt>
            <dd>{model.licence}</dd>
          </div>
        )}
      </dl>
      <Memory parts={model.memory} />
      {model.warnings.map((warning) => (
        <p key={warning} className="aside warn-text">
          {warning}
        </p>
      ))}
    </>
  );
}

function Fact({ name, children }: { name: TermName; children: React.ReactNode }) {
  return (
    <div>
      <dt>
        <Term name={name} />
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

const partTerms: Readonly<Record<MemoryPart['part'], TermName>> = {
  weights: 'weights_memory',
  kv: 'kv',
  lora: 'lora',
  optimiser: 'optimiser',
  activations: 'activations',
};

const partLabels: Readonly<Record<MemoryPart['part'], string>> = {
  weights: 'weights',
  kv: 'KV cache',
  lora: 'LoRA',
  optimiser: 'Adam',
  activations: 'activations',
};

/** Part by part, because "too large" and "context too long" have different cures. */
function Memory({ parts }: { parts: readonly MemoryPart[] }) {
  const total = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (total === 0) return null;
  return (
    <div className="memory">
      <p className="memory-total">
        Memory <strong>{bytesText(total)}</strong>
      </p>
      <div className="memory-bar" aria-hidden="true">
        {parts.map((part) => (
          <span
            key={part.part}
            className={`memory-${part.part}`}
            style={{ width: `${(part.bytes / total) * 100}%` }}
          />
        ))}
      </div>
      <ul>
        {parts.map((part) => (
          <li key={part.part}>
            <span className={`swatch memory-${part.part}`} aria-hidden="true" />
            <Term name={partTerms[part.part]}>{partLabels[part.part]}</Term>
            <span>{bytesText(part.bytes)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Where another model can come from. */
function Sources() {
  const [url, setUrl] = useState('');
  const picker = useRef<HTMLInputElement>(null);
  const stored = useLab((state) => state.storedModels);
  const engine = useLab((state) => state.engine);
  const loading = useLab((state) => state.loading !== null);
  const running = useLab(isRunning);
  const locked = engine !== 'ready' || loading || running;
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
          data-tip="A llama-family model in the GGUF format (F32, F16, Q8_0, Q4_0, Q4_1), from this computer. It is read in slices and not copied; dropping it on the page works too."
          onClick={() => picker.current?.click()}
        >
          <Icon name="open" />
          GGUF file…
        </button>
        <input
          ref={picker}
          type="file"
          accept=".gguf"
          hidden
          aria-label="A GGUF file"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = '';
            if (file) void loadModel({ kind: 'file', file });
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
      {stored.length > 0 && (
        <ul className="stored" aria-label="Models kept in this browser">
          {stored.map((one) => (
            <li key={one.key}>
              <button
                type="button"
                className="link"
                disabled={locked}
                onClick={() => void loadModel({ kind: 'cached', key: one.key })}
              >
                {one.name}
              </button>
              <span>{bytesText(one.bytes)}</span>
              <button
                type="button"
                className="button bare iconic small"
                aria-label={`Delete ${one.name} from this browser`}
                data-tip={`Delete from this browser. Last used ${one.lastUsed.slice(0, 10)}.`}
                onClick={() => void deleteModel(one.key)}
              >
                <Icon name="trash" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
