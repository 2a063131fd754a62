/** A button that asks for files. */

import { type ReactNode, useRef } from 'react';

/** What is chosen goes to `onFiles`, in the browser's order; the same files can be chosen again. */
export function FileButton({
  children,
  className = 'button small',
  label,
  accept,
  multiple = false,
  disabled = false,
  tip,
  onFiles,
}: {
  children: ReactNode;
  className?: string;
  /** What files these are, e.g. `A GGUF file`. */
  label: string;
  /** Endings, apart by commas. */
  accept: string;
  multiple?: boolean;
  disabled?: boolean;
  tip?: string;
  onFiles: (files: readonly File[]) => void;
}) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className={className}
        disabled={disabled}
        data-tip={tip}
        onClick={() => picker.current?.click()}
      >
        {children}
      </button>
      <input
        ref={picker}
        type="file"
        accept={accept}
        multiple={multiple}
        hidden
        aria-label={label}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = '';
          onFiles(files);
        }}
      />
    </>
  );
}
