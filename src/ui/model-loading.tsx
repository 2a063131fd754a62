/** A model on its way: bytes, speed, time left, what it will need, pause and cancel. */

import type { LoadProgress } from '../records.ts';
import { cancelLoading, loadAnyway, pauseLoading } from './load.ts';
import type { Loading } from './loading.ts';
import { MemoryBar } from './memory-bar.tsx';
import { remedies, totalBytes } from './memory-fit.ts';
import { bytesText, durationText } from './numbers.ts';

const phases: Readonly<Record<LoadProgress['phase'], string>> = {
  download: 'Downloading',
  cache: 'From the cache of this browser, nothing is downloaded',
  read: 'Reading the file',
  upload: 'Moving weights to the device',
  warm_up: 'Warming up',
};

export function ModelLoading({ loading }: { loading: Loading }) {
  const { label, progress, preview, asking, url } = loading;
  const downloading = url !== null && progress?.phase === 'download';
  return (
    <div className="loading">
      <div className="loading-head">
        <span className="loading-name">{label}</span>
        {downloading && (
          <button
            type="button"
            className="button small"
            data-tip="Keeps what has come, also when the tab is closed; Resume goes on from there."
            onClick={() => pauseLoading()}
          >
            Pause
          </button>
        )}
        <button
          type="button"
          className="button small"
          {...(downloading ? { 'data-tip': 'Ends the download and deletes what has come.' } : {})}
          onClick={() => cancelLoading()}
        >
          Cancel
        </button>
      </div>
      {asking && preview ? (
        <div className="loading-question" role="alert">
          <p className="warn-text">
            {preview.name} may not fit: it needs about {bytesText(totalBytes(preview.memory))}
            {preview.limit &&
              `, and there are about ${bytesText(preview.limit.bytes)} (${preview.limit.what})`}
            .
          </p>
          <p className="aside">{remedies(preview)}</p>
          <button type="button" className="button small" onClick={() => loadAnyway()}>
            Load it anyway
          </button>
        </div>
      ) : (
        <Bytes label={label} progress={progress} />
      )}
      {preview && <MemoryBar parts={preview.memory} limit={preview.limit} />}
    </div>
  );
}

function Bytes({ label, progress }: { label: string; progress: LoadProgress | null }) {
  const known = progress !== null && progress.total > 0;
  const left =
    known && progress.bytesPerSecond > 0
      ? durationText((progress.total - progress.bytes) / progress.bytesPerSecond)
      : '';
  return (
    <>
      <progress
        aria-label={`Loading ${label}`}
        max={1}
        {...(known ? { value: progress.bytes / progress.total } : {})}
      />
      <p className="aside">
        {progress ? phases[progress.phase] : 'Reading the header'}
        {known && ` · ${bytesText(progress.bytes)} of ${bytesText(progress.total)}`}
        {progress && progress.bytesPerSecond > 0 && ` · ${bytesText(progress.bytesPerSecond)}/s`}
        {left && ` · ${left} left`}
      </p>
    </>
  );
}
