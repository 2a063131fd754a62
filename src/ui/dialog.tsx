/** A modal window over the page, by the browser's own dialog element. */

import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Icon } from './icons.tsx';
import { dialog as say } from './strings.ts';

export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a modal dialog by itself
    <dialog
      ref={box}
      className={wide ? 'wide' : ''}
      aria-labelledby={heading}
      // In development effects run twice, and the first run's late event must not close the second.
      onClose={() => {
        if (!box.current?.open) onClose();
      }}
      onClick={(event) => {
        if (event.target === box.current) onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={heading}>{title}</h2>
        <button
          type="button"
          className="button bare iconic"
          aria-label={say.close}
          onClick={() => onClose()}
        >
          <Icon name="close" />
        </button>
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}
