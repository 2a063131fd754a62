/** The runs kept in this browser: open one to read it, delete it, or open a run from a file. */

import type { RunSummary } from '../records.ts';
import { deleteRun, openFile, openRun } from './actions.ts';
import { openComparison } from './compare-actions.ts';
import { DeleteButton } from './delete-button.tsx';
import { FileButton } from './file-button.tsx';
import { Icon, Mark } from './icons.tsx';
import { bytesText, plural, whenText } from './numbers.ts';
import { ReportButton } from './report-button.tsx';
import { endWording } from './run-view.ts';
import { canResume, resumeRun } from './running.ts';
import { isRunning, onlyReads } from './state.ts';
import { StorageFoot } from './storage-foot.tsx';
import { useLab } from './store.ts';
import { runsList as say } from './strings.ts';
import './runs-list.css';

export function RunsList() {
  const runs = useLab((state) => state.runs);
  const shown = useLab((state) => state.opened?.id ?? state.live?.summary?.id ?? null);
  const liveId = useLab((state) =>
    state.live && state.live.status !== 'ended' ? (state.live.summary?.id ?? null) : null,
  );
  return (
    <section className="panel" aria-labelledby="runs-title">
      <div className="panel-head">
        <h2 id="runs-title">{say.title}</h2>
        <button
          type="button"
          className="button small"
          data-tip={say.compareHelp}
          onClick={() => void openComparison()}
        >
          <Icon name="compare" />
          {say.compare}
        </button>
        <FileButton
          label={say.file}
          accept=".zip,.jsonl"
          tip={say.openHelp}
          onFiles={([file]) => file && void openFile(file)}
        >
          <Icon name="open" />
          {say.open}
        </FileButton>
      </div>
      {runs.length === 0 ? (
        <p className="aside">{say.none}</p>
      ) : (
        <ul className="runs">
          {runs.map((run) => (
            <Run key={run.id} run={run} current={run.id === shown} live={run.id === liveId} />
          ))}
        </ul>
      )}
      <p>
        <ReportButton />
      </p>
      <StorageFoot />
    </section>
  );
}

function Run({ run, current, live }: { run: RunSummary; current: boolean; live: boolean }) {
  const readsOnly = useLab(onlyReads);
  const locked = useLab((state) => isRunning(state) || state.loading !== null || onlyReads(state));
  const kept = useLab((state) => state.notebook.storage?.snapshots[run.id]);
  const { manifest } = run;
  const end = run.reason ? endWording(run.reason) : null;
  return (
    <li className="run" data-current={current}>
      <button
        type="button"
        className="run-open"
        aria-current={current}
        disabled={live}
        onClick={() => void openRun(run.id)}
      >
        <span className="run-goal">{run.goal || manifest.task.split}</span>
        <span className="run-state">
          <Mark tone={end?.tone ?? (live ? 'good' : 'quiet')} />
          {end?.label ?? (live ? say.running : say.interrupted)}
        </span>
        <Facts
          facts={[
            manifest.settings.method,
            `${manifest.task.split} ${manifest.task.index}`,
            plural(run.steps, 'step'),
            plural(run.updates, 'update'),
            plural(run.rollbacks, 'rollback'),
          ]}
        />
        <Facts
          facts={[
            whenText(run.createdAt),
            manifest.modelName,
            say.seed(manifest.settings.seed),
            ...(kept ? [say.snapshots(plural(kept.count, 'snapshot'), bytesText(kept.bytes))] : []),
          ]}
        />
      </button>
      {canResume(run) && !live && (
        <button
          type="button"
          className="button small run-resume"
          disabled={locked}
          data-tip={say.resumeHelp}
          onClick={() => void resumeRun(run.id)}
        >
          {say.resume}
        </button>
      )}
      <DeleteButton
        label={say.deleteRun(run.goal)}
        disabled={live || readsOnly}
        onDelete={() => void deleteRun(run.id)}
      />
    </li>
  );
}

/** Facts in one line; where it is too short, it breaks between two of them. */
function Facts({ facts }: { facts: readonly string[] }) {
  return (
    <span className="run-facts">
      {facts.map((fact) => fact.replaceAll(' ', '\u00a0')).join(' · ')}
    </span>
  );
}
