/** How to use the page: the idea, the keys, and the words of the field. */

import { Dialog } from './dialog.tsx';
import { terms } from './terms.ts';
import { startTour } from './tour.tsx';
import './help.css';

const keys = [
  ['← → or k j', 'the step before, the step after'],
  ['[ ]', 'the boundary before, the boundary after'],
  ['Home End', 'the first step, the newest one (and follow the run)'],
  ['Space', 'pause or resume the run in progress; play or halt a recorded one'],
  ['/', 'search the transcript; Enter goes from place to place'],
  ['Escape', 'close what is open; then back to the newest step'],
  ['?', 'this window'],
  ['← → in the tokens', 'the token before, the token after; Enter keeps one in the table'],
] as const;

export function HelpDialog({ hasRun, onClose }: { hasRun: boolean; onClose: () => void }) {
  return (
    <Dialog title="Help" onClose={onClose}>
      <div className="help">
        <h3>The idea</h3>
        <p>
          A language model that acts in a long task starts to loop. Here a small adapter is trained
          on its own words while it acts, and each word counts by how new it is. When the model
          repeats itself too closely, or drifts too far, the adapter goes back to where the episode
          began.
        </p>
        <h3>How to begin</h3>
        <p>
          {hasRun
            ? 'Move along the line at the top to read any step. Each card in the transcript says why there was an update, or why there was none. The tokens of that update are coloured on the right.'
            : 'Press “Run the bundled policy”. Nothing has to be set or downloaded.'}{' '}
          Models (.gguf), runs (.jsonl), worlds (scene.json, game.tw-pddl) and settings
          (config.toml, settings.json) open when they are dropped anywhere on the page. Nothing
          leaves this tab.
        </p>
        <p>
          <button
            type="button"
            className="button small"
            onClick={() => {
              onClose();
              void startTour();
            }}
          >
            Take the tour
          </button>
        </p>
        <h3>Keys</h3>
        <dl className="keys">
          {keys.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <h3>Words</h3>
        <dl className="words">
          {Object.values(terms).map((term) => (
            <div key={term.word}>
              <dt>{term.word}</dt>
              <dd>{term.text}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  );
}
