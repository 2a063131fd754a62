/** The model: load the bundled one, a file or an address; what is loaded, and what memory it takes. */

import { useEffect } from 'react';
import type { ModelInfo } from '../records.ts';
import { bundledModel, refreshNeeds } from './load.ts';
import type { ModelOrigin } from './loading.ts';
import { MemoryBar } from './memory-bar.tsx';
import { ModelLoading } from './model-loading.tsx';
import { ModelSources } from './model-sources.tsx';
import { bytesText, countText, wholeText } from './numbers.ts';
import { useLab } from './store.ts';
import type { TermName } from './strings.ts';
import { modelCard as say } from './strings.ts';
import { Term } from './tip.tsx';
import './model-card.css';

export function ModelCard() {
  const model = useLab((state) => state.model);
  const loading = useLab((state) => state.loading);
  const named = useLab((state) => state.settings.policy_model);
  return (
    <section className="panel" aria-labelledby="model-title">
      <h2 id="model-title">{say.model}</h2>
      {loading && <ModelLoading loading={loading} />}
      {model ? <Facts model={model} /> : !loading && <p className="aside">{say.none}</p>}
      {model && !loading && !names(model, named) && (
        <p className="aside warn-text">{say.namedAnother(named, model.name)}</p>
      )}
      {model ? (
        <details className="change">
          <summary>{say.anotherModel}</summary>
          <ModelSources />
        </details>
      ) : (
        <ModelSources />
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

function Facts({ model }: { model: ModelInfo }) {
  const from = useLab((state) => state.modelFrom);
  if (model.endpoint !== undefined) return <Served model={model} endpoint={model.endpoint} />;
  return (
    <>
      <p className="model-name">
        <strong>{model.name}</strong>
        <span>
          {bytesText(model.fileBytes)} · <Term name="quantisation">{model.quantisation}</Term>
        </span>
      </p>
      {from && <p className="aside">{origins[from]}</p>}
      <dl className="facts">
        <Fact name="parameters">{countText(model.parameters)}</Fact>
        <Fact name="layers">
          {model.layers} × {model.width}
        </Fact>
        <Fact name="heads">
          {model.heads}
          {model.kvHeads !== model.heads && say.keyValue(model.kvHeads)}
        </Fact>
        <Fact name="context">{say.tokens(wholeText(model.contextLength))}</Fact>
        <Fact name="sha256">
          <code>{model.sha256.slice(0, 12)}</code>
        </Fact>
        {model.licence && (
          <div>
            <dt>{say.licence}</dt>
            <dd>{model.licence}</dd>
          </div>
        )}
      </dl>
      <Needs model={model} />
      {model.warnings.map((warning) => (
        <p key={warning} className="aside warn-text">
          {warning}
        </p>
      ))}
    </>
  );
}

/** Of a served model only its name and address are known. */
function Served({ model, endpoint }: { model: ModelInfo; endpoint: string }) {
  return (
    <>
      <p className="model-name">
        <strong>{model.name}</strong>
        <span>{say.server}</span>
      </p>
      <p className="aside">
        <code>{endpoint}</code>
      </p>
      {model.warnings.map((warning) => (
        <p key={warning} className="aside warn-text">
          {warning}
        </p>
      ))}
    </>
  );
}

const origins: Readonly<Record<ModelOrigin, string>> = {
  bundled: say.fromPage,
  download: say.fromDownload,
  cache: say.fromCache,
  file: say.fromFile,
  server: say.fromServer,
};

/** Settings are typed; the estimate waits for a pause. */
const needsMs = 200;

/** The memory that the model in use needs, at the settings as they are now. */
function Needs({ model }: { model: ModelInfo }) {
  const needs = useLab((state) => state.needs);
  const context = useLab((state) => state.settings.context_length);
  const rank = useLab((state) => state.settings.lora_rank);
  const targets = useLab((state) => state.settings.target_modules);
  useEffect(() => {
    const timer = setTimeout(() => void refreshNeeds(), needsMs);
    return () => clearTimeout(timer);
  }, [model, context, rank, targets]);
  return <MemoryBar parts={needs?.memory ?? model.memory} limit={needs?.limit ?? null} />;
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
