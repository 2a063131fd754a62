/** What the next run starts from: a fresh adapter, or one of the shelf; and whether training can go on from it. */

import { useEffect, useId, useState } from 'react';
import { changedFields, type LoraTarget, loraTargets } from '../config.ts';
import {
  chooseStart,
  readShelf,
  type StartChoice as Start,
  type StartShape,
  startProblem,
  useShelf,
} from './adapter-shelf-state.ts';
import { Icon } from './icons.tsx';
import { dispatch, useLab } from './store.ts';
import { startChoice as say } from './strings.ts';

export function StartChoice() {
  const id = useId();
  const ready = useLab((state) => state.engine === 'ready');
  const model = useLab((state) => state.model?.sha256);
  const adapters = useShelf((state) => state.adapters);
  const start = useShelf((state) => state.start);
  useEffect(() => {
    if (ready && adapters === null) void readShelf();
  }, [ready, adapters]);
  const none = !adapters?.length;
  return (
    <div className="row" data-changed={start !== null} data-tip={none ? say.none : say.help}>
      <label className="row-label" htmlFor={id}>
        {say.label}
      </label>
      <span className="control">
        <select
          id={id}
          aria-describedby={`${id}-help`}
          disabled={none}
          value={start?.id ?? ''}
          onChange={(event) => void chooseStart(event.target.value || null)}
        >
          <option value="">{say.fresh}</option>
          {adapters?.map((adapter) => (
            <option key={adapter.id} value={adapter.id}>
              {adapter.name}
              {model !== undefined && adapter.modelSha256 !== model && say.ofAnotherModel}
            </option>
          ))}
        </select>
      </span>
      {start ? (
        <button
          type="button"
          className="button bare iconic small undo"
          aria-label={say.back}
          data-tip={say.back}
          onClick={() => void chooseStart(null)}
        >
          <Icon name="reset" />
        </button>
      ) : (
        <span className="undo" />
      )}
      <span className="unseen" id={`${id}-help`}>
        {none ? say.none : say.help}
      </span>
      {start && <Problem start={start} />}
    </div>
  );
}

/** Says why runs of the present settings could not start from it, and offers to set them to its shape. */
function Problem({ start: { id, shape } }: { start: Start }) {
  const settings = useLab((state) => state.settings);
  const model = useLab((state) => state.model?.sha256);
  const [problem, setProblem] = useState<string | null>(null);
  // Asked again for each model: what fits one does not fit another.
  useEffect(() => {
    let current = true;
    void startProblem(id, settings).then((found) => current && setProblem(found));
    return () => {
      current = false;
    };
  }, [id, settings, model]);
  if (problem === null) return null;
  const patch = shape && settingsOf(shape);
  return (
    <p className="problem" role="status">
      {problem}{' '}
      {patch && changedFields(settings, { ...settings, ...patch }).length > 0 && (
        <button
          type="button"
          className="button small"
          onClick={() => dispatch({ type: 'setting_changed', patch })}
        >
          {say.use}
        </button>
      )}
    </p>
  );
}

/** Float32 and its inverse leave more digits than a person gave. */
function settingsOf({ rank, alpha, targets }: StartShape) {
  return {
    lora_rank: rank,
    lora_alpha: Number(alpha.toPrecision(6)),
    target_modules: inOrder(targets),
  };
}

function inOrder(targets: readonly string[]): readonly LoraTarget[] {
  return loraTargets.filter((target) => targets.includes(target));
}
