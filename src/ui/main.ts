/** Starts the page: hears what is dropped, draws it, starts the engine, and reports errors that nothing else caught. */

import { openRunAt, startLab } from './actions.ts';
import { applyAddress } from './address.ts';
import { listenToDrops } from './drops.ts';
import { runAddressOf } from './query.ts';
import { reportStray } from './report.ts';
import { stopAndWait } from './running.ts';
import { watchTabs } from './tabs.ts';

window.addEventListener('unhandledrejection', (event) => reportStray(event.reason));
window.addEventListener('error', (event) => {
  if (event.error) reportStray(event.error);
});
listenToDrops(document);
const root = document.getElementById('root');
// React and the panels are a task of their own: a phone takes a tenth of a second for either.
if (root) void import('./draw.tsx').then(({ draw }) => draw(root));
const run = runAddressOf(location.search);
if (run) void openRunAt(run).then(applyAddress);
void startLab().then(() => {
  watchTabs(stopAndWait);
  // In development the files change under it.
  if (import.meta.env.PROD && 'serviceWorker' in navigator) {
    // Without it the page works all the same, only not without a network.
    navigator.serviceWorker.register('./offline.js').catch(() => {});
  }
});
