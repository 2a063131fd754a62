/** Gives one panel the whole room of a run's screen, and takes it back. */

import { Icon } from './icons.tsx';
import type { Enlarged } from './reading.ts';
import { dispatch, useLab } from './store.ts';
import { enlargeButton as say } from './strings.ts';

export function EnlargeButton({ panel }: { panel: Enlarged }) {
  const large = useLab((state) => state.reading.enlarged === panel);
  const label = large ? say.shrink : say.enlarge[panel];
  return (
    <button
      type="button"
      className="button bare iconic small enlarge"
      aria-label={label}
      aria-pressed={large}
      data-tip={large ? say.shrinkHelp : label}
      onClick={() => dispatch({ type: 'enlarged', panel: large ? null : panel })}
    >
      <Icon name={large ? 'shrink' : 'enlarge'} />
    </button>
  );
}
