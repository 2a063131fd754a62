/** How much this page keeps, whether the browser may clear it, and the whole notebook as a file. */

import { useState } from 'react';
import { notebookEnding } from '../formats/endings.ts';
import { deleteAllRuns, openFile, saveNotebook } from './actions.ts';
import { useShelf } from './adapter-shelf-state.ts';
import { FileButton } from './file-button.tsx';
import { Icon } from './icons.tsx';
import { bytesText, plural } from './numbers.ts';
import { isRunning, onlyReads } from './state.ts';
import { persistStorage } from './storage.ts';
import { useLab } from './store.ts';
import { storageFoot as say } from './strings.ts';

export function StorageFoot() {
  const storage = useLab((state) => state.notebook.storage);
  const count = useLab((state) => state.runs.length);
  const readsOnly = useLab(onlyReads);
  const adapters = useShelf((state) => state.adapters?.length ?? 0);
  const kept = Object.values(storage?.snapshots ?? {}).reduce(
    (sum, { count: more, bytes }) => ({ count: sum.count + more, bytes: sum.bytes + bytes }),
    { count: 0, bytes: 0 },
  );
  return (
    <div className="storage">
      <div className="storage-buttons">
        <button
          type="button"
          className="button small"
          disabled={count === 0 && adapters === 0}
          data-tip={say.exportHelp}
          onClick={() => void saveNotebook()}
        >
          <Icon name="save" />
          {say.exportAll}
        </button>
        <FileButton
          label={say.notebook(notebookEnding)}
          accept=".zip"
          disabled={readsOnly}
          tip={say.importHelp}
          onFiles={([file]) => file && void openFile(file)}
        >
          <Icon name="open" />
          {say.import}
        </FileButton>
        <DeleteAll count={count} />
      </div>
      {storage && (
        <p className="aside">
          {say.used(bytesText(storage.usage), bytesText(storage.quota))}{' '}
          {kept.count > 0 &&
            `${say.snapshots(plural(kept.count, 'snapshot'), bytesText(kept.bytes))} `}
          {storage.persisted ? (
            say.persisted
          ) : (
            <>
              {say.notPersisted}{' '}
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

/** Empties the list of runs, once it was asked twice. */
function DeleteAll({ count }: { count: number }) {
  const locked = useLab((state) => isRunning(state) || onlyReads(state));
  const [asking, setAsking] = useState(false);
  if (!asking || count === 0) {
    return (
      <button
        type="button"
        className="button bare small"
        disabled={count === 0 || locked}
        onClick={() => setAsking(true)}
      >
        {say.deleteAll}
      </button>
    );
  }
  return (
    <fieldset className="storage-ask">
      <legend className="unseen">{say.deleteAll}</legend>
      <p>{say.cannotBeUndone}</p>
      <button
        type="button"
        className="button small"
        disabled={locked}
        onClick={() => {
          setAsking(false);
          void deleteAllRuns();
        }}
      >
        {say.deleteRuns(plural(count, 'run'))}
      </button>
      <button type="button" className="button bare small" onClick={() => setAsking(false)}>
        {say.keep}
      </button>
    </fieldset>
  );
}
