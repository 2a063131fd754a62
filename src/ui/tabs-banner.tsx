/** Says that this tab only reads, with the way to write here. */

import { useLab } from './store.ts';
import { takeOver } from './tabs.ts';
import './tabs-banner.css';

export function TabsBanner() {
  const writer = useLab((state) => state.notebook.writer);
  if (writer === 'this_tab' || writer === 'unknown') return null;
  return (
    <section className="tabs-banner" aria-label="Another tab">
      <p role="status">
        {writer === 'taking_over'
          ? 'Asking the other tab to stop its run and step back …'
          : 'The notebook is open in another tab. This one only reads: runs can be looked at, not started.'}
      </p>
      <button
        type="button"
        className="button small"
        disabled={writer === 'taking_over'}
        data-tip="A run in the other tab is stopped first; it is kept and can be resumed here."
        onClick={() => takeOver()}
      >
        Take over
      </button>
    </section>
  );
}
