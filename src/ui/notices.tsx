/** Errors and news over the page, each with what to do; errors stay until they are dismissed. */

import { useEffect } from 'react';
import { deleteRun, startLab } from './actions.ts';
import { Icon, Mark } from './icons.tsx';
import { loadModel } from './load.ts';
import { bytesText, whenText } from './numbers.ts';
import { isRunning } from './state.ts';
import { refreshStorage } from './storage.ts';
import { dispatch, useLab } from './store.ts';
import { notices as say } from './strings.ts';
import './notices.css';

/** News go away by themselves; errors wait to be read. */
const newsMs = 9000;

export function Notices() {
  const notices = useLab((state) => state.notices);
  const news = notices.find((notice) => notice.tone === 'info')?.id;
  useEffect(() => {
    if (news === undefined) return;
    const timer = setTimeout(() => dispatch({ type: 'notice_dismissed', id: news }), newsMs);
    return () => clearTimeout(timer);
  }, [news]);
  return (
    <div className="notices">
      {notices.map((notice) => (
        <section
          key={notice.id}
          className={`notice ${notice.tone}`}
          role={notice.tone === 'error' ? 'alert' : 'status'}
          aria-label={notice.title}
        >
          <Mark tone={notice.tone === 'error' ? 'bad' : 'note'} />
          <div className="notice-text">
            <strong>{notice.title}</strong>
            <p>{notice.message}</p>
            {notice.next && <p className="notice-next">{notice.next}</p>}
            {notice.action === 'free_storage' && <FreeStorage id={notice.id} />}
            {notice.action === 'download_model' && (
              <Download id={notice.id} url={notice.url ?? ''} />
            )}
            {notice.action === 'restart_engine' && (
              <button
                type="button"
                className="button small primary"
                onClick={() => {
                  dispatch({ type: 'notice_dismissed', id: notice.id });
                  void startLab();
                }}
              >
                {say.restartEngine}
              </button>
            )}
          </div>
          <button
            type="button"
            className="button bare iconic small"
            aria-label={say.dismiss(notice.title)}
            onClick={() => dispatch({ type: 'notice_dismissed', id: notice.id })}
          >
            <Icon name="close" />
          </button>
        </section>
      ))}
    </div>
  );
}

/** Fetches a model that something needed, now that a person says so. */
function Download({ id, url }: { id: number; url: string }) {
  return (
    <button
      type="button"
      className="button small primary"
      onClick={() => {
        dispatch({ type: 'notice_dismissed', id });
        void loadModel({ kind: 'url', url });
      }}
    >
      {say.downloadModel}
    </button>
  );
}

/** How full the storage is, and the run that can be spared soonest. */
function FreeStorage({ id }: { id: number }) {
  const storage = useLab((state) => state.notebook.storage);
  const oldest = useLab((state) => (isRunning(state) ? undefined : state.runs.at(-1)));
  const models = useLab((state) => state.storedModels.length);
  useEffect(() => void refreshStorage(), []);
  return (
    <>
      {storage && (
        <p className="notice-next">
          {say.used(bytesText(storage.usage), bytesText(storage.quota))}
        </p>
      )}
      {!oldest && (
        <p className="notice-next">{models > 0 ? say.deleteModels : say.nothingToDelete}</p>
      )}
      {oldest && (
        <button
          type="button"
          className="button small primary"
          onClick={async () => {
            dispatch({ type: 'notice_dismissed', id });
            await deleteRun(oldest.id);
            await refreshStorage();
          }}
        >
          {say.deleteOldest(oldest.goal, whenText(oldest.createdAt))}
        </button>
      )}
    </>
  );
}
