/** Light or dark: what was chosen, and what the system says where nothing was. */

import { useSyncExternalStore } from 'react';
import { useLab } from './store.ts';

const systemDark =
  typeof matchMedia === 'undefined' ? null : matchMedia('(prefers-color-scheme: dark)');

/** True when the page is dark now. */
export function useDark(): boolean {
  const theme = useLab((state) => state.theme);
  const system = useSyncExternalStore(
    (notify) => {
      systemDark?.addEventListener('change', notify);
      return () => systemDark?.removeEventListener('change', notify);
    },
    () => systemDark?.matches ?? false,
    () => false,
  );
  return theme === 'system' ? system : theme === 'dark';
}
