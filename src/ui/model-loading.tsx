/** A model on its way: bytes, speed, time left, what it will need, pause and cancel. */

import type { LoadProgress } from '../records.ts';
import { cancelLoading, loadAnyway, pauseLoading } from './load.ts';
import type { Loading } from './loading.ts';
import { MemoryBar } from './memory-bar.tsx';
import { remedies, totalBytes } from './memory-fit.ts';
import { bytesText, durationText } from './numbers.ts';
import { modelLoading as say } from './strings.ts';

const phases: Readonly<Record<LoadProgress['phase'], string>> = {
  download: say.downloading,
  cache: say.fromCache,
  read: say.readingFile,
  upload: say.toDevice,
  warm_up: say.warming,
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
            data-tip={say.pauseHelp}
            onClick={() => pauseLoading()}
          >
            {say.pause}
          </button>
        )}
        <button
          type="button"
          className="button small"
          {...(downloading ? { 'data-tip': say.cancelHelp } : {})}
          onClick={() => cancelLoading()}
        >
          {say.cancel}
        </button>
      </div>
      {asking && preview ? (
        <div className="loading-question" role="alert">
          <p className="warn-text">
            {say.mayNotFit(preview.name, bytesText(totalBytes(preview.memory)))}
            {preview.limit && say.thereAbout(bytesText(preview.limit.bytes), preview.limit.what)}.
          </p>
          <p className="aside">{remedies(preview)}</p>
          <button type="button" className="button small" onClick={() => loadAnyway()}>
            {say.loadAnyway}
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
        aria-label={say.loading(label)}
        max={1}
        {...(known ? { value: progress.bytes / progress.total } : {})}
      />
      <p className="aside">
        {progress ? phases[progress.phase] : say.readingHeader}
        {known && say.of(bytesText(progress.bytes), bytesText(progress.total))}
        {progress && progress.bytesPerSecond > 0 && say.rate(bytesText(progress.bytesPerSecond))}
        {left && say.left(left)}
      </p>
    </>
  );
}
