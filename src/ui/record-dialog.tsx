/** What was recorded, as JSON: to read, copy and save. Long lists of numbers stay on one line. */

import { useMemo, useState } from 'react';
import type { EpisodeEvent } from '../records.ts';
import { saveText } from './actions.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { readableJson } from './readable-json.ts';
import { recordDialog as say } from './strings.ts';

export function RecordDialog({
  title,
  records,
  onClose,
}: {
  title: string;
  records: readonly EpisodeEvent[];
  onClose: () => void;
}) {
  const texts = useMemo(() => records.map((record) => readableJson(record)), [records]);
  const [copied, setCopied] = useState<'no' | 'yes' | 'refused'>('no');
  const all = records.map((record) => JSON.stringify(record)).join('\n');
  return (
    <Dialog title={say.whatRecorded(title)} onClose={onClose} wide>
      <div className="dialog-buttons">
        <button
          type="button"
          className="button primary"
          onClick={() =>
            navigator.clipboard.writeText(all).then(
              () => setCopied('yes'),
              () => setCopied('refused'),
            )
          }
        >
          <Icon name="copy" />
          {copied === 'yes' ? say.copied : say.copy}
        </button>
        <button
          type="button"
          className="button"
          onClick={() =>
            saveText(
              `${title.toLowerCase().replaceAll(' ', '-')}.jsonl`,
              `${all}\n`,
              'application/jsonl',
            )
          }
        >
          <Icon name="save" />
          {say.jsonl}
        </button>
        {copied === 'refused' && <span className="aside">{say.copyRefused}</span>}
      </div>
      {texts.map((text, index) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach that.
        <pre key={index} className="record" tabIndex={0}>
          {text}
        </pre>
      ))}
    </Dialog>
  );
}
