/** The head of the run on screen: its goal, where it stands, its frozen settings, what to take home. */

import { type ReactNode, useState } from 'react';
import { changedFields, type FieldName, fields } from '../config.ts';
import type { StopReason } from '../records.ts';
import { saveAdapter, saveBundle, savePrediction, saveRun, saveSettings } from './actions.ts';
import { shelveRun } from './adapter-shelf-state.ts';
import { repeatCommand } from './command.ts';
import { usualSettings } from './defaults.ts';
import { Dialog } from './dialog.tsx';
import { Icon, type IconName, Mark } from './icons.tsx';
import { valueText } from './numbers.ts';
import { endWording, type RunView } from './run-view.ts';
import { canResume, resumeRun } from './running.ts';
import { countsAt } from './series.ts';
import { SettingsTable } from './settings-table.tsx';
import { isCode, isRunning, onlyReads, shownStep } from './state.ts';
import { dispatch, useLab } from './store.ts';
import { runHead as say } from './strings.ts';
import { Term } from './tip.tsx';
import './run-head.css';

export function RunHead({ run }: { run: RunView }) {
  const opened = useLab((state) => state.opened !== null);
  const running = useLab(isRunning);
  const { manifest, task } = run.started;
  const code = useLab((state) => isCode(state, task.env));
  const where = [
    `${manifest.settings.method}${manifest.settings.observe_only ? say.observeOnly : ''}`,
    `${task.split} ${task.index}`,
    ...(manifest.reflections ? [say.nthTry(manifest.reflections.length + 1)] : []),
    manifest.modelName,
    ...(manifest.startAdapter ? [say.startedFrom(manifest.startAdapter.name)] : []),
    manifest.backend,
  ].join(' · ');
  const [window, setWindow] = useState<'settings' | 'command' | null>(null);
  return (
    <header className="run-head">
      <div className="run-title">
        <h2>{task.goal ?? goalOf(run)}</h2>
        {run.ended && <RunEnd reason={run.ended.reason} />}
        <button
          type="button"
          className="button small bare iconic"
          aria-label={opened && running ? say.closeAndReturn : say.close}
          data-tip={opened && running ? say.closeAndReturnHelp : say.close}
          disabled={!opened && running}
          onClick={() => dispatch({ type: 'run_closed' })}
        >
          <Icon name="close" />
        </button>
      </div>
      <button
        type="button"
        className="link run-where"
        data-tip={say.settingsHelp(where)}
        onClick={() => setWindow('settings')}
      >
        {where}
      </button>
      <div className="run-actions">
        <Action
          icon="save"
          label={say.adapter}
          tip={run.id === null ? say.noAdapter : say.adapterHelp}
          disabled={run.id === null}
          onClick={() => run.id !== null && void saveAdapter(run.id)}
        />
        <Action
          icon="pin"
          label={say.keep}
          spoken={say.keepAdapter}
          tip={say.keepHelp}
          disabled={run.id === null}
          onClick={() => run.id !== null && void shelveRun(run.id, task.goal ?? goalOf(run))}
        />
        <Action
          icon="save"
          label={say.bundle}
          tip={say.bundleHelp}
          onClick={() => void saveBundle(run)}
        />
        <Action
          icon="save"
          label={say.jsonl}
          tip={say.jsonlHelp}
          onClick={() => void saveRun(run)}
        />
        {code && (
          <Action
            icon="save"
            label={say.prediction}
            tip={say.predictionHelp}
            onClick={() => void savePrediction(run)}
          />
        )}
        <Action
          icon="copy"
          label={say.command}
          tip={say.commandHelp}
          onClick={() => setWindow('command')}
        />
      </div>
      <RunStats run={run} opened={opened} />
      {window === 'settings' && <FrozenSettings run={run} onClose={() => setWindow(null)} />}
      {window === 'command' && <CommandDialog run={run} onClose={() => setWindow(null)} />}
    </header>
  );
}

/** How the run ended; beside its goal, so that nothing below moves when it does. */
function RunEnd({ reason }: { reason: StopReason }) {
  const { label, tone, help } = endWording(reason);
  return (
    <span className={`run-end ${tone}`} data-tip={help}>
      <Mark tone={tone} />
      {label}
    </span>
  );
}

/** What can be done with the run, as a button. */
function Action({
  icon,
  label,
  spoken,
  tip,
  disabled = false,
  onClick,
}: {
  icon: IconName;
  label: string;
  /** For those who do not see what the label stands beside. */
  spoken?: string;
  tip: string;
  disabled?: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      className="button small"
      disabled={disabled}
      aria-label={spoken}
      data-tip={tip}
      onClick={onClick}
    >
      <Icon name={icon} />
      {label}
    </button>
  );
}

/** Where the run stands at the step on screen. */
function RunStats({ run, opened }: { run: RunView; opened: boolean }) {
  const t = useLab(shownStep);
  const { step_limit } = run.started.manifest.settings;
  const counts = countsAt(run, t);
  const step = run.steps.find((one) => one.t === t);
  const boundary = run.boundaries.findLast((one) => one.t <= t && one.kl !== null);
  return (
    <dl className="run-stats">
      {opened && (
        <Figure label={say.state} unseen>
          <span className="readonly">
            {run.id === null ? say.readOnly(run.name) : say.storedReadOnly}
          </span>
        </Figure>
      )}
      <ResumeButton run={run} />
      <Figure label={say.step}>{say.of(t, step_limit)}</Figure>
      <Figure label={<Term name="update">{say.updates}</Term>}>{counts.updates}</Figure>
      <Figure label={<Term name="rollback">{say.rollbacks}</Term>}>{counts.rollbacks}</Figure>
      <Figure label={<Term name="repetition">{say.repetition}</Term>}>
        {valueText(step?.repetition)}
      </Figure>
      <Figure label={<Term name="kl" />}>{valueText(boundary?.kl)}</Figure>
    </dl>
  );
}

/** One figure of the run with what it is called; `unseen` where the figure says so itself. */
function Figure({
  label,
  unseen = false,
  children,
}: {
  label: ReactNode;
  unseen?: boolean;
  children: ReactNode;
}) {
  return (
    <div>
      <dt className={unseen ? 'unseen' : undefined}>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** For a stored run that was stopped or interrupted. */
function ResumeButton({ run }: { run: RunView }) {
  const summary = useLab((state) => state.runs.find((one) => one.id === run.id));
  const locked = useLab((state) => isRunning(state) || state.loading !== null || onlyReads(state));
  const reason = run.ended ? run.ended.reason : summary?.reason;
  if (!summary || reason === undefined || locked) return null;
  if (!canResume({ reason, steps: summary.steps })) return null;
  return (
    <Figure label={say.resume} unseen>
      <button
        type="button"
        className="button small"
        data-tip={say.resumeHelp}
        onClick={() => void resumeRun(summary.id)}
      >
        {say.resumeStep(summary.steps)}
      </button>
    </Figure>
  );
}

/** Where the task carries no goal, the first observation says it. */
function goalOf(run: RunView): string {
  const found = /Your task is to: (.+)/.exec(run.started.observation);
  return found?.[1] ?? run.name;
}

function FrozenSettings({ run, onClose }: { run: RunView; onClose: () => void }) {
  const [all, setAll] = useState(false);
  const { settings, task } = run.started.manifest;
  const usual = usualSettings(task.env);
  const changed = changedFields(settings, usual);
  const names = all ? (Object.keys(fields) as readonly FieldName[]) : changed; // keys of the table itself
  return (
    <Dialog title={say.settingsTitle} onClose={onClose}>
      <p>
        {changed.length === 0
          ? say.noSettingDiffers
          : say.settingsDiffer(changed.length, Object.keys(fields).length)}{' '}
        <label className="check">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />
          {say.showAll}
        </label>
      </p>
      {names.length > 0 && (
        <SettingsTable
          names={names}
          changed={changed}
          left={{ title: say.thisRun, settings }}
          right={{ title: say.default, settings: usual }}
        />
      )}
      <div className="dialog-buttons">
        <button
          type="button"
          className="button"
          onClick={() => {
            dispatch({ type: 'settings_replaced', settings });
            onClose();
          }}
        >
          {say.useAgain}
        </button>
        <button
          type="button"
          className="button"
          onClick={() => void saveSettings('config.toml', settings)}
        >
          <Icon name="save" />
          config.toml
        </button>
        <button
          type="button"
          className="button"
          onClick={() => void saveSettings('settings.json', settings)}
        >
          <Icon name="save" />
          settings.json
        </button>
      </div>
    </Dialog>
  );
}

function CommandDialog({ run, onClose }: { run: RunView; onClose: () => void }) {
  const { manifest } = run.started;
  const { command, files, note } = repeatCommand(manifest);
  const [copied, setCopied] = useState<'no' | 'yes' | 'refused'>('no');
  return (
    <Dialog title={say.commandTitle} onClose={onClose}>
      <p className="command">
        <code>{command}</code>
      </p>
      <div className="dialog-buttons">
        <button
          type="button"
          className="button primary"
          onClick={() =>
            navigator.clipboard.writeText(command).then(
              () => setCopied('yes'),
              () => setCopied('refused'),
            )
          }
        >
          <Icon name="copy" />
          {copied === 'yes' ? say.copied : say.copy}
        </button>
        {files.map((file) => (
          <button
            key={file}
            type="button"
            className="button"
            onClick={() => void saveSettings(file, manifest.settings)}
          >
            <Icon name="save" />
            {file}
          </button>
        ))}
      </div>
      <p className="aside">
        {copied === 'refused' && say.copyRefused}
        {say.commandNote(note)}
      </p>
    </Dialog>
  );
}
