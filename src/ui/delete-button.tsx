/** The bin of a list's entry, which asks once more before it deletes. */

import { useState } from 'react';
import { Icon } from './icons.tsx';
import { deleteButton as say } from './strings.ts';
import './delete-button.css';

export function DeleteButton({
  label,
  disabled = false,
  onDelete,
}: {
  /** For those who do not see the bin, e.g. `Delete the run: …`. */
  label: string;
  disabled?: boolean;
  onDelete: () => void;
}) {
  const [asking, setAsking] = useState(false);
  return asking ? (
    <span className="entry-delete">
      <button type="button" className="button small" disabled={disabled} onClick={onDelete}>
        {say.delete}
      </button>
      <button type="button" className="button bare small" onClick={() => setAsking(false)}>
        {say.keep}
      </button>
    </span>
  ) : (
    <button
      type="button"
      className="button bare iconic small entry-delete"
      aria-label={label}
      disabled={disabled}
      onClick={() => setAsking(true)}
    >
      <Icon name="trash" />
    </button>
  );
}
