/** The settings, drawn from their schema: groups, ranges, units, help, what differs from the default. */

import { Fragment, useDeferredValue, useId, useState } from 'react';
import {
  changedFields,
  type Field,
  type FieldName,
  fieldNames,
  fieldProblem,
  fields,
  type Settings,
  type SettingsPatch,
} from '../config.ts';
import { openFile, saveSettings } from './actions.ts';
import { CheckList } from './check-list.tsx';
import { usualSettings } from './defaults.ts';
import { FileButton } from './file-button.tsx';
import { Icon } from './icons.tsx';
import { settingText, wholeText } from './numbers.ts';
import { StartChoice } from './start-choice.tsx';
import { isRunning } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { methods, settingsForm as say } from './strings.ts';
import { SummaryServer } from './summary-server.tsx';
import './settings-form.css';

const groupTitles: Readonly<Record<Field['group'], string>> = {
  policy: say.policy,
  method: say.method,
  trigger: say.trigger,
  rollback: say.rollback,
  run: say.run,
  prompt: say.prompt,
  summary: say.summaryModel,
  logging: say.logging,
};
/** How many groups are seen before the form is scrolled. */
const seenFirst = 2;
const groups = Object.keys(groupTitles) as readonly Field['group'][]; // keys of the table above

export function SettingsForm() {
  const settings = useLab((state) => state.settings);
  const running = useLab(isRunning);
  // The rest of this long form is drawn in small pieces, after the page can be seen.
  const whole = useDeferredValue(true, false);
  const usual = useUsual();
  const changed = changedFields(settings, usual);
  return (
    <section className="panel settings" aria-labelledby="settings-title">
      <div className="panel-head">
        <h2 id="settings-title">{say.settings}</h2>
        <button
          type="button"
          className="button bare small"
          disabled={changed.length === 0}
          data-tip={say.resetHelp}
          onClick={() => dispatch({ type: 'settings_replaced', settings: usual })}
        >
          <Icon name="reset" />
          {changed.length === 0 ? say.allDefaults : say.reset(changed.length)}
        </button>
      </div>
      {running && <p className="aside">{say.holdForNextRun}</p>}
      {groups.slice(0, whole ? groups.length : seenFirst).map((group) => (
        <Fragment key={group}>
          <Group group={group} changed={changed} whole={whole} />
          {group === 'method' && whole && <StartChoice />}
          {group === 'summary' && settings.text_source === 'summary' && (
            <SummaryServer locked={running} />
          )}
        </Fragment>
      ))}
      <div className="settings-files">
        <FileButton
          label={say.files}
          accept=".toml,.json"
          multiple
          onFiles={async (chosen) => {
            // settings.json comes last: where both files name a setting, it wins.
            const files = [...chosen].sort((a) => (a.name.endsWith('.json') ? 1 : -1));
            for (const file of files) await openFile(file);
          }}
        >
          <Icon name="open" />
          {say.open}
        </FileButton>
        <button
          type="button"
          className="button small"
          data-tip={say.configTomlHelp}
          onClick={() => void saveSettings('config.toml', settings)}
        >
          <Icon name="save" />
          config.toml
        </button>
        <button
          type="button"
          className="button small"
          data-tip={say.settingsJsonHelp}
          onClick={() => void saveSettings('settings.json', settings)}
        >
          <Icon name="save" />
          settings.json
        </button>
      </div>
    </section>
  );
}

function Group({
  group,
  changed,
  whole,
}: {
  group: Field['group'];
  changed: readonly FieldName[];
  /** False while what is folded is not drawn yet. */
  whole: boolean;
}) {
  const own = fieldNames.filter((name) => fields[name].group === group);
  const isFolded = (name: FieldName) => 'advanced' in fields[name] && fields[name].advanced;
  const plain = own.filter((name) => !isFolded(name));
  const folded = own.filter(isFolded);
  const rows = (names: readonly FieldName[]) =>
    names.map((name) => <Row key={name} name={name} changed={changed.includes(name)} />);
  if (plain.length === 0) {
    return (
      <details className="group">
        <summary>
          <span className="group-title">{groupTitles[group]}</span>
          <FoldedCount names={folded} changed={changed} />
        </summary>
        <fieldset>
          <legend className="unseen">{groupTitles[group]}</legend>
          {rows(folded)}
        </fieldset>
      </details>
    );
  }
  return (
    <fieldset className="group">
      <legend className="group-title">{groupTitles[group]}</legend>
      {rows(plain)}
      {folded.length > 0 && (
        <details>
          <summary>
            {say.more(folded.length)}
            <FoldedCount names={folded} changed={changed} />
          </summary>
          {whole && rows(folded)}
        </details>
      )}
    </fieldset>
  );
}

/** A changed setting must not hide in a fold. */
function FoldedCount({
  names,
  changed,
}: {
  names: readonly FieldName[];
  changed: readonly FieldName[];
}) {
  const count = names.filter((name) => changed.includes(name)).length;
  return count > 0 ? <span className="folded-count">{say.changed(count)}</span> : null;
}

function Row({ name, changed }: { name: FieldName; changed: boolean }) {
  const field: Field = fields[name];
  const id = useId();
  const problem = useLab((state) => state.drafts[name]?.problem);
  const wide = field.kind === 'list' || (field.kind === 'text' && field.multiline === true);
  const method = useLab((state) => (name === 'method' ? state.settings.method : null));
  const chosen = method ? `${method}: ${methods[method]}\n` : '';
  const usual = useUsual()[name];
  const standard = settingText(usual);
  const range = rangeText(field, standard);
  const tip = `${chosen}${field.help}\n${range}\n${field.place.file}: ${field.place.key}`;
  return (
    <div className="row" data-changed={changed} data-wide={wide} data-tip={tip}>
      {field.kind === 'list' ? (
        <span className="row-label" aria-hidden="true">
          {field.label}
        </span>
      ) : (
        <label className="row-label" htmlFor={id}>
          {field.label}
        </label>
      )}
      <span className="control">
        <Control name={name} field={field} id={id} describedBy={`${id}-help`} />
        {'unit' in field && field.unit && <span className="unit">{field.unit}</span>}
      </span>
      {changed ? (
        <button
          type="button"
          className="button bare iconic small undo"
          aria-label={say.backTo(field.label, standard)}
          data-tip={say.backToHelp(standard)}
          onClick={() => change(name, usual)}
        >
          <Icon name="reset" />
        </button>
      ) : (
        <span className="undo" />
      )}
      <span className="unseen" id={`${id}-help`}>
        {chosen} {field.help} {range} {problem ?? ''}
      </span>
      {problem && (
        <p className="problem" role="alert">
          {field.label} {problem}.
        </p>
      )}
    </div>
  );
}

interface ControlProps {
  readonly name: FieldName;
  readonly field: Field;
  readonly id: string;
  readonly describedBy: string;
}

function Control({ name, field, id, describedBy }: ControlProps) {
  const value = useLab((state) => state.settings[name]);
  const common = { id, 'aria-describedby': describedBy };
  switch (field.kind) {
    case 'number':
      return <NumberInput {...common} name={name} integer={field.integer} value={String(value)} />;
    case 'switch':
      return (
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => change(name, event.target.checked)}
        />
      );
    case 'choice':
      return (
        <select
          {...common}
          value={String(value)}
          disabled={field.options.length < 2}
          onChange={(event) => change(name, event.target.value)}
        >
          {field.options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      );
    case 'text':
      return field.multiline ? (
        <textarea
          {...common}
          rows={3}
          value={String(value)}
          onChange={(event) => change(name, event.target.value)}
        />
      ) : (
        <input
          {...common}
          type="text"
          autoComplete="off"
          spellCheck={false}
          value={String(value)}
          onChange={(event) => change(name, event.target.value)}
        />
      );
    case 'list':
      return (
        <CheckList
          {...common}
          legend={field.label}
          legendSeen={false}
          options={field.options}
          chosen={Array.isArray(value) ? value.map(String) : []}
          onChange={(chosen) => change(name, chosen)}
        />
      );
    default:
      return field satisfies never;
  }
}

/** While it is typed, a number is text: "0." is on the way to 0.5. */
function NumberInput({
  name,
  integer,
  value,
  ...common
}: {
  name: FieldName;
  integer: boolean;
  value: string;
  id: string;
  'aria-describedby': string;
}) {
  const draft = useLab((state) => state.drafts[name]);
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      {...common}
      type="text"
      inputMode={integer ? 'numeric' : 'decimal'}
      autoComplete="off"
      aria-invalid={draft !== undefined}
      value={draft?.text ?? typed ?? value}
      onBlur={() => setTyped(null)}
      onChange={(event) => {
        const text = event.target.value;
        setTyped(text);
        const number = text.trim() === '' ? Number.NaN : Number(text.trim().replace(',', '.'));
        const problem = fieldProblem(name, number);
        if (problem === null) change(name, number);
        else dispatch({ type: 'setting_refused', name, text, problem });
      }}
    />
  );
}

/** Takes over a value that is one; a list, for example, cannot lose its last entry. */
function change(name: FieldName, value: unknown): void {
  if (fieldProblem(name, value) !== null) return;
  dispatch({ type: 'setting_changed', patch: { [name]: value } as SettingsPatch }); // fieldProblem has checked it
}

/** The defaults of the chosen task's world. */
function useUsual(): Settings {
  return usualSettings(useLab((state) => state.task?.env));
}

function boundText(bound: number): string {
  if (!Number.isInteger(bound)) return String(bound);
  return bound >= Number.MAX_SAFE_INTEGER ? '2⁵³ − 1' : wholeText(bound);
}

function rangeText(field: Field, usual: string): string {
  const unit = field.kind === 'number' && field.unit ? ` ${field.unit}` : '';
  const standard = say.default(usual, unit);
  if (field.kind !== 'number') return `${standard}.`;
  return say.range(standard, field.min, boundText(field.max));
}
