/** Files that are dropped anywhere on the page. */

import { openFiles } from './actions.ts';
import { takeAdapters } from './adapter-shelf-state.ts';
import { dispatch } from './store.ts';

/** Listens for good. On the document, so that a file is not lost that falls before the page is drawn. */
export function listenToDrops(target: Document): void {
  const onFiles = (name: 'dragover' | 'drop', act: (files: readonly File[]) => void) =>
    target.addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      act([...event.dataTransfer.files]);
    });
  onFiles('dragover', () => dispatch({ type: 'drag_over', over: true }));
  target.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) dispatch({ type: 'drag_over', over: false });
  });
  onFiles('drop', async (files) => {
    dispatch({ type: 'drag_over', over: false });
    await openFiles(await takeAdapters(files));
  });
}
