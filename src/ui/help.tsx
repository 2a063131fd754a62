/** How to use the page: the idea, the keys, and the words of the field. */

import { Dialog } from './dialog.tsx';
import { methods, help as say, terms } from './strings.ts';
import { startTour } from './tour.tsx';
import './help.css';

const keys = [
  [say.stepKeys, say.stepKeysDo],
  ['[ ]', say.boundaryKeysDo],
  [say.endKeys, say.endKeysDo],
  [say.space, say.spaceDoes],
  ['/', say.slashDoes],
  [say.noteKey, say.noteKeyDoes],
  [say.escape, say.escapeDoes],
  ['?', say.questionMarkDoes],
  [say.tokenKeys, say.tokenKeysDo],
] as const;

export function HelpDialog({ hasRun, onClose }: { hasRun: boolean; onClose: () => void }) {
  return (
    <Dialog title={say.help} onClose={onClose}>
      <div className="help">
        <h3>{say.idea}</h3>
        <p>{say.ideaText}</p>
        <h3>{say.howBegin}</h3>
        <p>
          {hasRun ? say.beginRead : say.beginRun} {say.beginDrop}
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
            {say.takeTour}
          </button>
        </p>
        <h3>{say.keys}</h3>
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
        <h3>{say.methods}</h3>
        <dl className="words">
          {Object.entries(methods).map(([method, text]) => (
            <div key={method}>
              <dt>{method}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <h3>{say.words}</h3>
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
