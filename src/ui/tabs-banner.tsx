/** Says that this tab only reads, with the way to write here. */

import { useLab } from './store.ts';
import { tabsBanner as say } from './strings.ts';
import { takeOver } from './tabs.ts';
import './tabs-banner.css';

export function TabsBanner() {
  const writer = useLab((state) => state.notebook.writer);
  if (writer === 'this_tab' || writer === 'unknown') return null;
  return (
    <section className="tabs-banner" aria-label={say.anotherTab}>
      <p role="status">{writer === 'taking_over' ? say.takingOver : say.readsOnly}</p>
      <button
        type="button"
        className="button small"
        disabled={writer === 'taking_over'}
        data-tip={say.takeOverHelp}
        onClick={() => takeOver()}
      >
        {say.takeOver}
      </button>
    </section>
  );
}
