/** Starts the page: draws it, starts the engine, and reports errors that nothing else caught. */

import { StrictMode, startTransition, useLayoutEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { openRunAt, startLab } from './actions.ts';
import { applyAddress } from './address.ts';
import { App } from './app.tsx';
import { listenToDrops } from './drops.ts';
import { runAddressOf } from './query.ts';
import { reportStray } from './report.ts';
import { stopAndWait } from './running.ts';
import { watchTabs } from './tabs.ts';

listenToDrops(document);
const root = document.getElementById('root');
if (root) {
  const Live = () => {
    // What the build has drawn there could not answer yet.
    useLayoutEffect(() => {
      root.inert = false;
    }, []);
    return <App />;
  };
  // A transition, so that the first drawing is done in slices between which the page answers.
  startTransition(() =>
    createRoot(root).render(
      <StrictMode>
        <Live />
      </StrictMode>,
    ),
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
