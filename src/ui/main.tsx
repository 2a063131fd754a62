/** Starts the page: draws it, starts the engine, and reports errors that nothing else caught. */

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { openRunAt, startLab } from './actions.ts';
import { applyAddress } from './address.ts';
import { App } from './app.tsx';
import { runAddressOf } from './query.ts';
import { reportStray } from './report.ts';
import { stopAndWait } from './running.ts';
import { watchTabs } from './tabs.ts';

const root = document.getElementById('root');
if (root) {
  // What the build has drawn there could not answer yet.
  root.inert = false;
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
window.addEventListener('unhandledrejection', (event) => reportStray(event.reason));
window.addEventListener('error', (event) => {
  if (event.error) reportStray(event.error);
});
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
