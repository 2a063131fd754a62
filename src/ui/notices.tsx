/** Errors and news over the page, each with what to do; they stay until they are dismissed. */

import { startLab } from './actions.ts';
import { Icon, Mark } from './icons.tsx';
import { dispatch, useLab } from './store.ts';
import './notices.css';

export function Notices() {
  const notices = useLab((state) => state.notices);
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
            {notice.action === 'restart_engine' && (
              <button
                type="button"
                className="button small primary"
                onClick={() => {
                  dispatch({ type: 'notice_dismissed', id: notice.id });
                  void startLab();
                }}
              >
                Restart the engine
              </button>
            )}
          </div>
          <button
            type="button"
            className="button bare iconic small"
            aria-label={`Dismiss: ${notice.title}`}
            onClick={() => dispatch({ type: 'notice_dismissed', id: notice.id })}
          >
            <Icon name="close" />
          </button>
        </section>
      ))}
    </div>
  );
}
