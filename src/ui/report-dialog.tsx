/** The Report view: success, drift and cost of the runs kept here, or of an experiment's rows. */

import { useEffect, useState } from 'react';
import { LabError, messageOf, toWire } from '../errors.ts';
import { toHtml } from '../experiment/document.ts';
import { experimentOfRuns } from '../experiment/from-runs.ts';
import { readHeader } from '../experiment/header.ts';
import { addRows } from '../experiment/read-rows.ts';
import { reportOf } from '../experiment/report.ts';
import type { Row } from '../experiment/row.ts';
import type { RunSummary } from '../records.ts';
import { saveText } from './actions.ts';
import { Dialog } from './dialog.tsx';
import { engine } from './engine.ts';
import { FileButton } from './file-button.tsx';
import { Icon } from './icons.tsx';
import { useLab } from './store.ts';
import { reportDialog as say } from './strings.ts';
import './report-dialog.css';

/** `html` is a whole page; it is shown in a frame in which nothing can run. */
type Shown =
  | { readonly state: 'reading' }
  | { readonly state: 'refused'; readonly why: string }
  | { readonly state: 'shown'; readonly html: string };

export function ReportDialog({ onClose }: { onClose: () => void }) {
  const runs = useLab((state) => state.runs);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [shown, setShown] = useState<Shown>({ state: 'reading' });
  useEffect(() => {
    let stale = false;
    const made = files.length > 0 ? ofFiles(files) : ofRuns(runs.filter((run) => run.reason));
    made.then(
      (html) => !stale && setShown({ state: 'shown', html }),
      (thrown) => !stale && setShown({ state: 'refused', why: toWire(thrown).message }),
    );
    return () => {
      stale = true;
    };
  }, [files, runs]);
  return (
    <Dialog title={say.report} onClose={onClose} wide>
      <section
        className="report"
        aria-label={say.report}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          event.stopPropagation();
          setFiles([...event.dataTransfer.files]);
        }}
      >
        <div className="dialog-buttons">
          <FileButton
            className="button"
            label={say.openExperiment}
            accept=".json,.jsonl,.gz"
            multiple
            onFiles={setFiles}
          >
            <Icon name="open" />
            {say.openExperiment}
          </FileButton>
          {shown.state === 'shown' && (
            <button
              type="button"
              className="button"
              onClick={() => saveText('report.html', shown.html, 'text/html')}
            >
              <Icon name="save" />
              {say.html}
            </button>
          )}
          <span className="aside">{say.openHelp}</span>
        </div>
        {shown.state === 'reading' && <p className="aside">{say.reading}</p>}
        {shown.state === 'refused' && <p role="alert">{shown.why}</p>}
        {shown.state === 'shown' && (
          <iframe className="report-page" title={say.report} sandbox="" srcDoc={shown.html} />
        )}
      </section>
    </Dialog>
  );
}

/** Of runs that ended, newest first. */
async function ofRuns(runs: readonly RunSummary[]): Promise<string> {
  const finished = await Promise.all(
    runs.map(async ({ id, manifest }) => ({
      manifest,
      events: await engine().call('runEvents', { id }),
    })),
  );
  const { header, rows, notes } = experimentOfRuns(finished);
  return toHtml(reportOf(header, rows, today(), notes));
}

/** Of an experiment's folder: experiment.json and every rows file, packed or not. */
async function ofFiles(files: readonly File[]): Promise<string> {
  const parts = files.filter(({ name }) => /\.jsonl(\.gz)?$/.test(name));
  const heads = files.filter(({ name }) => name.endsWith('.json'));
  const header = heads.find(({ name }) => name === 'experiment.json') ?? heads[0];
  if (!header || parts.length === 0) {
    const names = files.map(({ name }) => name).join(', ');
    throw new LabError('bad_input', say.filesMissing(names));
  }
  const read = readHeader(await header.text(), header.name);
  const rows = new Map<string, Row>();
  for (const part of parts) addRows(rows, await textOf(part), part.name);
  const date = new Date(Math.max(...parts.map(({ lastModified }) => lastModified)));
  return toHtml(reportOf(read, [...rows.values()], date.toISOString().slice(0, 10)));
}

async function textOf(file: File): Promise<string> {
  if (!file.name.endsWith('.gz')) return file.text();
  const unpacked = file.stream().pipeThrough(new DecompressionStream('gzip'));
  try {
    return await new Response(unpacked).text();
  } catch (thrown) {
    throw new LabError('bad_input', say.notUnpacked(file.name, messageOf(thrown)));
  }
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
