/** How much this page keeps, whether the browser may clear it, and the whole notebook as a file. */

import { useRef } from 'react';
import { notebookEnding } from '../formats/endings.ts';
import { openFile, saveNotebook } from './actions.ts';
import { Icon } from './icons.tsx';
import { bytesText } from './numbers.ts';
import { persistStorage } from './storage.ts';
import { useLab } from './store.ts';

export function StorageFoot() {
  const storage = useLab((state) => state.notebook.storage);
  const count = useLab((state) => state.runs.length);
  const picker = useRef<HTMLInputElement>(null);
  return (
    <div className="storage">
      <div className="storage-buttons">
        <button
          type="button"
          className="button small"
          disabled={count === 0}
          data-tip="Every run of this browser as one zip: a backup, or the way to another computer."
          onClick={() => void saveNotebook()}
        >
          <Icon name="save" />
          Export all
        </button>
        <button
          type="button"
          className="button small"
          data-tip="Adds the runs of an exported notebook; those that are here already stay as they are."
          onClick={() => picker.current?.click()}
        >
          <Icon name="open" />
          Import…
        </button>
        <input
          ref={picker}
          type="file"
          accept=".zip"
          hidden
          aria-label={`A notebook (${notebookEnding})`}
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = '';
            if (file) void openFile(file);
          }}
        />
      </div>
      {storage && (
        <p className="aside">
          {bytesText(storage.usage)} of {bytesText(storage.quota)} used.{' '}
          {storage.persisted ? (
            'This browser keeps it until you delete it.'
          ) : (
            <>
              This browser may clear it when the disk runs short.{' '}
              <button type="button" className="link" onClick={() => void persistStorage()}>
                Ask it not to
              </button>
            </>
          )}
        </p>
      )}
    </div>
  );
}
