/** Starts the page: draws it, starts the engine, and reports errors that nothing else caught. */

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startLab } from './actions.ts';
import { App } from './app.tsx';
import { reportStray } from './report.ts';

const root = document.getElementById('root');
if (root) {
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
void startLab();
