/** How much this page keeps, whether the browser may clear it, and the whole notebook as a file. */

import { useRef } from 'react';
import { notebookEnding } from '../formats/endings.ts';
import { openFile, saveNotebook } from './actions.ts';
import { Icon } from './icons.tsx';
import { bytesText } from './numbers.ts';
import { persistStorage } from './storage.ts';
import { useLab } from './store.ts';
import { storageFoot as say } from './strings.ts';

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
          data-tip={say.everyRunBrowserOne}
          onClick={() => void saveNotebook()}
        >
          <Icon name="save" />
          {say.exportAll}
        </button>
        <button
          type="button"
          className="button small"
          data-tip={say.addsRunsExportedNotebook}
          onClick={() => picker.current?.click()}
        >
          <Icon name="open" />
          {say.import}
        </button>
        <input
          ref={picker}
          type="file"
          accept=".zip"
          hidden
          aria-label={say.notebook(notebookEnding)}
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = '';
            if (file) void openFile(file);
          }}
        />
      </div>
      {storage && (
        <p className="aside">
          {say.used(bytesText(storage.usage), bytesText(storage.quota))}{' '}
          {storage.persisted ? (
            say.browserKeepsUntilYouDelete
          ) : (
            <>
              {say.browserMayClearWhen}{' '}
              <button type="button" className="link" onClick={() => void persistStorage()}>
                {say.askNot}
              </button>
            </>
          )}
        </p>
      )}
    </div>
  );
}
